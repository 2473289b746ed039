package reparse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Options of Run.
type Options struct {
	// Archive is read, and Generation is written.
	Archive, Generation blob.Bucket
	// Redefine changes the definition that the crawl had when a file of the archive was written.
	// It must be the same in all processes and runs of a generation; Settings describes it.
	Redefine func(topics.Definition) topics.Definition
	Settings json.RawMessage
	// Version is that of the program.
	Version string
	// Format, Compression and Partition of the files of the generation.
	Format      Format
	Compression Compression
	Partition   Partition
	// This process makes the files of share Share of Shares, from 1; 0 of 0: all files.
	Share, Shares int
	// Workers is the number of pages that are parsed at a time; 0: one for each core.
	Workers int
	// InFlight bounds the bytes of payloads and decoded bodies on their way; 0: 64 MiB. One body of
	// each open file may exceed it (see seat).
	InFlight int64
	// Watch is called after each file, from several goroutines; nil: it is not.
	Watch  func(Report)
	Logger *slog.Logger
}

func (o Options) workers() int {
	if o.Workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return o.Workers
}

// Report counts what a run has done.
type Report struct {
	// Files were made. Before were there already, and Others belong to other shares.
	Files  int `json:"files"`
	Before int `json:"files_before"`
	Others int `json:"files_of_other_shares"`
	// Foreign files are of other programs, or of an earlier version. They are not read.
	Foreign int `json:"foreign_files"`
	// Outcomes counts the responses in the files that were made.
	Outcomes map[Outcome]int64 `json:"outcomes"`
}

// filesAtOnce is the number of files that are open at a time: while one of them is published, the
// other one is parsed.
const filesAtOnce = 2

// Run makes the files of a generation that are not there yet. It returns what was done, also with an
// error.
func Run(ctx context.Context, o Options) (Report, error) {
	if err := o.Validate(); err != nil {
		return Report{}, err
	}
	o = o.withDefaults()
	o.Workers = o.workers()
	if o.InFlight == 0 {
		o.InFlight = 64 << 20
	}
	r := &run{
		Options: o, workers: make(chan struct{}, o.Workers), flight: newFlight(o.InFlight),
		responses: newRestorer(), parsers: map[string]*parser{}, report: Report{Outcomes: map[Outcome]int64{}},
	}
	names, err := r.files(ctx)
	if err == nil {
		err = o.begin(ctx)
	}
	if err != nil {
		return r.report, err
	}
	group, life := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	// Processes that begin at the same time begin with different files.
	first := rand.IntN(max(len(names), 1))
	for _, name := range slices.Concat(names[first:], names[:first]) {
		if life.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := r.file(life, name); err != nil {
				return fmt.Errorf("reparse %s: %w", name, err)
			}
			return nil
		})
	}
	err = group.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return r.report, err
}

// run is a call of Run.
type run struct {
	Options
	workers   chan struct{}
	flight    *flight
	responses *httpclient.Restorer

	mu      sync.Mutex
	parsers map[string]*parser // by the JSON of their definition: few, since most files have the same
	report  Report
}

// files are the names of the files of this share, sorted.
func (r *run) files(ctx context.Context) (names []string, err error) {
	for object, err := range r.Archive.List(ctx, "") {
		switch {
		case err != nil:
			return nil, err
		case !archive.IsFile(object.Key):
		case r.Shares > 0 && ShareOf(object.Key, r.Shares) != r.Share:
			r.report.Others++
		default:
			names = append(names, object.Key)
		}
	}
	if len(names)+r.report.Others == 0 {
		return nil, fmt.Errorf("there is no file of an archive in %s", r.Archive)
	}
	slices.Sort(names)
	return names, nil
}

// ShareOf is the share, from 1, that a file belongs to. It depends on the name only, so that it does
// not change when the archive grows.
func ShareOf(name string, shares int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(archive.Stem(name)))
	return int(h.Sum32()%uint32(shares)) + 1
}

// file makes a file of the generation, if it is not there.
func (r *run) file(ctx context.Context, name string) error {
	to := r.lastName(archive.Stem(name))
	there, err := exists(ctx, r.Generation, to)
	if err != nil {
		return err
	}
	if there {
		r.note(func(sum *Report) { sum.Before++ })
		return nil
	}
	s, err := openSource(ctx, r.Archive, name)
	if errors.Is(err, errForeign) {
		r.Logger.Warn("a file of the archive is not read", "file", name, "error", err)
		r.note(func(sum *Report) { sum.Foreign++ })
		return nil
	}
	if err != nil {
		return err
	}
	p, err := r.parser(s.definition)
	if err != nil {
		return err
	}
	out, err := r.newOutput(ctx, s)
	if err != nil {
		return err
	}
	defer out.close()
	outcomes, err := r.pages(ctx, s, p, out)
	if err != nil {
		return err
	}
	err = out.publish(ctx, r.Generation, to)
	if errors.Is(err, blob.ErrExists) { // another process made the same file
		r.note(func(sum *Report) { sum.Before++ })
		return nil
	}
	if err != nil {
		return err
	}
	r.note(func(sum *Report) {
		sum.Files++
		for outcome, n := range outcomes {
			sum.Outcomes[outcome] += n
		}
	})
	return nil
}

// note changes the report, and shows it.
func (r *run) note(change func(*Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report)
	if r.Watch != nil {
		r.Watch(r.report)
	}
}

// parser returns the parser for a crawl's definition.
func (r *run) parser(d topics.Definition) (*parser, error) {
	d = r.Redefine(d)
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the definition: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.parsers[string(text)]; p != nil {
		return p, nil
	}
	p, err := newParser(d, r.responses)
	if err != nil {
		return nil, fmt.Errorf("the settings of the crawl: %w", err)
	}
	r.parsers[string(text)] = p
	return p, nil
}

// page is a page of a response.
type page struct {
	// line is the record of parsed. fetched is that of fetched, as far as parse needs it; nil: the
	// format does not need it.
	line, fetched []byte
	// response is the record of the archive, at an offset of its file.
	response       warc.Record
	offset, length int64
	gzip           *gzipEnd
	// payload is the length of the payload, also of a revisit.
	payload int64
}

// decoded is the record of parsed.
func (p page) decoded() (record codecs.Parsed, err error) {
	if err := json.Unmarshal(p.line, &record); err != nil {
		return record, fmt.Errorf("decode a page: %w", err)
	}
	return record, nil
}

// parsed is what a response has become.
type parsed struct {
	page
	outcome Outcome
}

// ticket is a response on its way.
type ticket struct {
	*seat
	result chan parsed // of capacity 1
}

// waiting is how many responses of a file may be read and not written yet, for each worker.
const waiting = 4

// pages parses the responses of a file beside each other, and adds their pages to out in the order
// of the file.
func (r *run) pages(ctx context.Context, s *source, p *parser, out output) (map[Outcome]int64, error) {
	index, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	group, life := errgroup.WithContext(ctx)
	order := make(chan ticket, waiting*r.Workers)
	group.Go(func() error {
		defer close(order)
		for one, err := range s.responses(life, index) {
			if err != nil {
				return err
			}
			t, err := r.begin(life, one, order)
			if err != nil {
				return err
			}
			group.Go(func() error {
				defer func() { <-r.workers }()
				t.result <- r.parse(life, s, p, one, t.seat)
				return nil
			})
		}
		return nil
	})
	outcomes := map[Outcome]int64{}
	group.Go(func() error {
		for t := range order {
			close(t.first)
			one := <-t.result
			if err := r.write(life, out, one, t.seat); err != nil {
				return err // which ends the run, so that the room of the others does not matter
			}
			outcomes[one.outcome]++
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return outcomes, ctx.Err()
}

// begin waits for room and for a worker, and gives a response its place in the order. Workers are
// taken in the order of the file, so that the first response of a file always has one: others may
// wait for it (see seat).
func (r *run) begin(ctx context.Context, k kept, order chan<- ticket) (ticket, error) {
	seat, err := r.flight.enter(ctx, len(k.payload))
	if err != nil {
		return ticket{}, err
	}
	t := ticket{seat, make(chan parsed, 1)}
	select {
	case r.workers <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, ctx.Err()
	}
	select {
	case order <- t:
		return t, nil
	case <-ctx.Done():
		<-r.workers
		return ticket{}, ctx.Err()
	}
}

// write adds a page to out. A response beyond the flight is out of memory before the next one is the
// first.
func (r *run) write(ctx context.Context, out output, one parsed, s *seat) error {
	if one.outcome != Page {
		s.leave()
		return nil
	}
	left := make(chan struct{})
	if err := out.add(one.page, func() { s.leave(); close(left) }); err != nil {
		return err
	}
	if !s.beyond {
		return nil
	}
	select {
	case <-left:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// parse parses one response. Its seat then has room for what is left of it.
func (r *run) parse(ctx context.Context, s *source, p *parser, k kept, seat *seat) parsed {
	one, outcome, err := page{}, k.outcome, k.err
	if outcome == "" {
		one, outcome, err = p.page(ctx, k, seat)
	}
	if err != nil {
		r.Logger.Info("a response has no page", "file", s.name, "url", k.record.Field("WARC-Target-URI"), "outcome", outcome, "error", err)
	}
	if r.Format != Objects || outcome != Page {
		one.fetched = nil
	}
	seat.shrink(len(k.payload) + len(one.line) + len(one.fetched))
	return parsed{page: one, outcome: outcome}
}
