package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// ExportOptions of an export.
type ExportOptions struct {
	// Crawl to be exported, and Client, the options that reach its brokers.
	Crawl  string
	Client []kgo.Opt
	// Dir is the folder to write; it must not exist or be empty.
	Dir string
	// WithoutPages leaves out what parsed and rejected hold.
	WithoutPages bool
	// Bodies opens the place of large bodies.
	Bodies OpenBodies
	// Damaged says what of the crawl's logs cannot be read, as far as is known.
	Damaged []string
	// Logger is told of each topic; nil: nobody.
	Logger *slog.Logger
}

// Validate says what is wrong with the options, if anything.
func (o ExportOptions) Validate() error {
	switch {
	case o.Dir == "":
		return errors.New("no folder to export to")
	case o.Bodies == nil:
		return errors.New("nothing opens the place of large bodies")
	}
	return topics.CheckCrawl(o.Crawl)
}

// Export writes a crawl that does not run to a folder, and changes nothing of
// it. The error wraps ErrRunning, ledger.ErrTrimmed, ErrUnsettled, or what
// topics.ReadDefinition says of a crawl that is not there. After any error the
// folder holds no export.
func Export(ctx context.Context, o ExportOptions) (*Manifest, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	reader, err := replay.New(o.Client...)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	client, err := kgo.NewClient(o.Client...)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer client.Close()
	e := &exporter{ExportOptions: o, names: topics.Loop(o.Crawl), reader: reader, admin: kadm.NewClient(client)}
	e.Format, e.At, e.Manifest.Damaged = wholeFormat, time.Now().UTC(), o.Damaged
	if err := e.run(ctx); err != nil {
		return nil, fmt.Errorf("export %s: %w", o.Crawl, err)
	}
	if len(e.Manifest.Damaged) > 0 {
		return nil, fmt.Errorf("export %s: %w: %s", o.Crawl, ErrDamaged, strings.Join(e.Manifest.Damaged, "; "))
	}
	return &e.Manifest, nil
}

type exporter struct {
	ExportOptions
	Manifest
	names  topics.Names
	reader *replay.Reader
	admin  *kadm.Client
	bounds map[string]map[int32]replay.Bounds
	bodies largeBodies
	// next says where stages go on, by full topic, partition and stage.
	next map[string]map[int32]map[topics.Stage]int64
}

// ErrUnsettled means that the logs do not hold what a stage reads next.
var ErrUnsettled = errors.New("a log does not hold what its stage reads next: start the crawl, which mends it or says what is wrong, and stop it")

// ErrDamaged means that an export holds only what could be read of its crawl.
var ErrDamaged = errors.New("the export is only what can be read of a damaged crawl, and cannot be imported")

// ErrChanged means that somebody wrote to a crawl while it was read.
var ErrChanged = errors.New("it was written to meanwhile")

func (e *exporter) run(ctx context.Context) (err error) {
	if err := e.define(ctx); err != nil {
		return err
	}
	if err := idle(ctx, e.admin, e.names); err != nil {
		return err
	}
	if e.bounds, err = e.allBounds(ctx); err != nil {
		return err
	}
	if err := e.workers(ctx); err != nil {
		return err
	}
	e.bodies = largeBodies{open: e.Bodies, location: e.Definition.Bodies, fetched: e.names.Fetched, admin: e.admin, log: e.Logger}
	if err := makeEmpty(e.Dir); err != nil {
		return err
	}
	// Ledgers first: they say where their inputs go on.
	for _, topic := range []string{e.names.Scheduled, e.names.Deduped} {
		if err := e.copy(ctx, topic); err != nil {
			return err
		}
	}
	for _, topic := range []string{
		e.names.Seeds, e.names.Discovered, e.names.Normalized, e.names.Visited, e.names.Fetched, e.names.Parsed, e.names.Rejected,
	} {
		if e.WithoutPages && (topic == e.names.Parsed || topic == e.names.Rejected) {
			continue
		}
		if err := e.copy(ctx, topic); err != nil {
			return err
		}
	}
	if err := e.unchanged(ctx); err != nil {
		return err
	}
	if len(e.Manifest.Damaged) > 0 {
		e.Format = Format
	}
	return e.write(e.Dir)
}

// define reads the definitions that the crawl had.
func (e *exporter) define(ctx context.Context) (err error) {
	if e.Definition, err = topics.ReadDefinition(ctx, e.names, e.Client...); err != nil {
		return err
	}
	control, _, err := topics.ReadControl(ctx, e.names, e.Client...)
	if err != nil {
		return err
	}
	e.Paused = control.Paused
	return e.reader.Records(ctx, e.names.Config, func(r *kgo.Record) error {
		d, ok := topics.DefinitionIn(r.Value, e.names.Crawl)
		if ok && !slices.ContainsFunc(e.Had, func(h topics.Definition) bool { return reflect.DeepEqual(h, d) }) {
			e.Had = append(e.Had, d)
		}
		return nil
	})
}

// allBounds are those of every log.
func (e *exporter) allBounds(ctx context.Context) (map[string]map[int32]replay.Bounds, error) {
	all := map[string]map[int32]replay.Bounds{}
	for _, t := range e.names.Topics() {
		b, err := e.reader.Bounds(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		all[t.Name] = b
	}
	return all, nil
}

// unchanged makes sure that what was read is one moment of the crawl.
func (e *exporter) unchanged(ctx context.Context) error {
	if err := idle(ctx, e.admin, e.names); err != nil {
		return err
	}
	now, err := e.allBounds(ctx)
	if err != nil {
		return err
	}
	for topic, bounds := range now {
		if !maps.Equal(bounds, e.bounds[topic]) {
			return fmt.Errorf("%w: %s grew or was trimmed", ErrChanged, topic)
		}
	}
	return nil
}

// workers notes where the stages go on that keep it in commits.
func (e *exporter) workers(ctx context.Context) error {
	e.next = map[string]map[int32]map[topics.Stage]int64{}
	for _, stage := range []topics.Stage{topics.Normalize, topics.Parse, topics.WARC} {
		for _, topic := range e.names.Inputs(stage) {
			commits, err := e.reader.Commits(ctx, e.names.Group(stage), topic)
			if err != nil {
				return err
			}
			if len(commits) == 0 && stage == topics.WARC {
				continue // nobody writes such files
			}
			for partition, log := range e.bounds[topic] {
				if err := e.goOn(topic, partition, stage, max(commits[partition], log.Start)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// goOn notes where a stage goes on.
func (e *exporter) goOn(topic string, partition int32, stage topics.Stage, offset int64) error {
	if log := e.bounds[topic][partition]; offset < log.Start || offset > log.End {
		return fmt.Errorf("%w: %s/%d holds %d to %d, and %s goes on at %d", ErrUnsettled, topic, partition, log.Start, log.End, stage, offset)
	}
	if e.next[topic] == nil {
		e.next[topic] = map[int32]map[topics.Stage]int64{}
	}
	if e.next[topic][partition] == nil {
		e.next[topic][partition] = map[topics.Stage]int64{}
	}
	e.next[topic][partition][stage] = offset
	return nil
}

// copy writes the files of a topic.
func (e *exporter) copy(ctx context.Context, topic string) error {
	t, _ := e.names.Topic(topic)
	if err := os.Mkdir(filepath.Join(e.Dir, t.Short), 0o755); err != nil {
		return fmt.Errorf("make folder of export: %w", err)
	}
	for _, partition := range slices.Sorted(maps.Keys(e.bounds[topic])) {
		l := Log{Topic: t.Short, Partition: partition, Next: e.next[topic][partition]}
		if err := e.segment(ctx, topic, &l); err != nil {
			return err
		}
		e.Logs = append(e.Logs, l)
	}
	e.Logger.Info("exported", "topic", topic, "records", e.Records(t.Short))
	return nil
}

// segment copies one partition: all of a ledger and of what people read; of
// fetched what is there, because who takes it over looks in it for what was not
// reported; and of the rest what is not consumed.
func (e *exporter) segment(ctx context.Context, topic string, l *Log) error {
	log := e.bounds[topic][l.Partition]
	var owner topics.Stage // of the ledger
	switch topic {
	case e.names.Deduped:
		owner = topics.Dedupe
	case e.names.Scheduled:
		owner = topics.Schedule
	case e.names.Seeds, e.names.Discovered:
		log.Start = l.Next[topics.Normalize]
	case e.names.Normalized:
		log.Start = l.Next[topics.Dedupe]
	case e.names.Visited:
		log.Start = l.Next[topics.Schedule]
	}
	if owner != "" && log.Start > 0 {
		return fmt.Errorf("%w: %s/%d begins at %d, and only a crawl whose ledgers are whole can be moved",
			ledger.ErrTrimmed, topic, l.Partition, log.Start)
	}
	l.Start, l.End = log.Start, log.End
	positions := positions{}
	if log.Start < log.End {
		l.File = filepath.Join(l.Topic, fmt.Sprintf("%05d.zst", l.Partition))
		out, err := createSegment(filepath.Join(e.Dir, l.File))
		if err != nil {
			return err
		}
		var reader ledger.Reader
		read := e.reader.Range
		if topic == e.names.Seeds {
			read = e.reader.CommittedRange // an import writes no transactions
		}
		err = read(ctx, topic, map[int32]replay.Bounds{l.Partition: log}, func(r *kgo.Record) error {
			if owner != "" {
				err := positions.follow(&reader, r)
				switch {
				case errors.Is(err, ledger.ErrCorrupt):
					e.Manifest.Damaged = append(e.Manifest.Damaged, err.Error())
					owner = "" // how far it had come is not known behind this
				case err != nil:
					return err
				}
			}
			if topic == e.names.Fetched && classOf(*l, r.Offset) != doneByAll {
				var err error
				if r.Value, err = e.bodies.claim(ctx, r.Value); err != nil {
					return err
				}
			}
			return out.write(r)
		})
		if err != nil {
			out.abandon()
			return err
		}
		if err := out.finish(l); err != nil {
			return err
		}
	}
	if owner == "" {
		return nil
	}
	for _, input := range e.names.Inputs(owner) {
		next := e.bounds[input][l.Partition].Start
		if at, known := positions[input]; known {
			next = at + 1
		}
		if err := e.goOn(input, l.Partition, owner, next); err != nil {
			return err
		}
	}
	return nil
}

// positions are how far the owner of a ledger has folded its inputs.
type positions map[string]int64

// follow folds the positions that a record of the ledger carries.
func (p positions) follow(reader *ledger.Reader, r *kgo.Record) error {
	ev, err := reader.Read(r.Value, r.Topic, r.Partition, r.Offset)
	if err != nil || ev == nil {
		return err
	}
	for _, at := range ev.Positions {
		p[at.Topic] = at.Offset
	}
	return nil
}

// ErrFolder means that an export has no folder of its own.
var ErrFolder = errors.New("an export needs an empty folder; what one that was interrupted left can be deleted")

// makeEmpty makes the folder of an export.
func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of export: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read folder of export: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("%w: %s is not empty", ErrFolder, dir)
	}
	return nil
}
