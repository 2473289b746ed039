package processors

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/similar"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/traps"
)

// originals finds out what each page is a duplicate of, in the order in which
// pages are written to parsed: duplicates.Index decides.
type originals struct {
	env   Env
	pages pages

	mu    sync.Mutex
	logs  *replay.Reader
	index *duplicates.Index // nil until it is needed
	here  map[int32]bool    // the partitions of this process

	loads chan struct{} // holds as many as are loaded at the same time
}

// loadsAtOnce bounds the memory that it takes to read parsed.
const loadsAtOnce = 4

func newOriginals(env Env, p pages) *originals {
	return &originals{env: env, pages: p, here: map[int32]bool{}, loads: make(chan struct{}, loadsAtOnce)}
}

// open returns the index. It belongs to the incarnation of parsed that there is.
func (o *originals) open(ctx context.Context) (*duplicates.Index, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.index != nil {
		return o.index, nil
	}
	client, err := o.env.client()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	parsed := o.env.Names.Parsed
	listed, err := kadm.NewClient(client).ListTopics(ctx, parsed)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", parsed, err)
	}
	if o.logs == nil {
		if o.logs, err = replay.New(o.env.connection()...); err != nil {
			return nil, err
		}
	}
	id := listed[parsed].ID
	opts := duplicates.DefaultOptions()
	opts.Dir = filepath.Join(o.env.Dir, "duplicates", parsed+"-"+hex.EncodeToString(id[:]))
	if o.index, err = duplicates.Open(opts, pagesLog{o.logs, parsed}); err != nil {
		return nil, err
	}
	o.index.Take(slices.Collect(maps.Keys(o.here)))
	return o.index, nil
}

// close leaves the index on disk. No page may be judged any more.
func (o *originals) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.index != nil {
		if err := o.index.Close(); err != nil {
			o.env.Logger.Warn("the index of duplicates was not closed in good order, its log makes up for that", "error", err)
		}
	}
	if o.logs != nil {
		o.logs.Close()
	}
}

// take and release follow which partitions this process has.
func (o *originals) take(partitions []int32) {
	if index := o.note(partitions, true); index != nil {
		index.Take(partitions)
	}
}

// load reads what others wrote to parsed. Trouble is met again by the first page.
func (o *originals) load(ctx context.Context, partition int32) {
	select {
	case o.loads <- struct{}{}:
		defer func() { <-o.loads }()
	case <-ctx.Done():
		return
	}
	log := o.env.Logger.With("stage", topics.Parse, "partition", partition)
	began := time.Now()
	long := time.AfterFunc(time.Second, func() { log.Info("pages wait until parsed is read for the index of duplicates") })
	index, err := o.open(ctx)
	if err == nil {
		err = index.Load(ctx, partition)
	}
	switch quick := long.Stop(); {
	case ctx.Err() != nil:
	case err != nil:
		log.Warn("the index of duplicates was not read", "error", err)
	case !quick:
		log.Info("the index of duplicates is read", "took", time.Since(began))
	}
}

func (o *originals) release(ctx context.Context, partitions []int32) {
	if index := o.note(partitions, false); index != nil {
		index.Release(ctx, partitions)
	}
}

// note keeps which partitions are here, and returns the index if it is open.
func (o *originals) note(partitions []int32, here bool) *duplicates.Index {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, partition := range partitions {
		if here {
			o.here[partition] = true
		} else {
			delete(o.here, partition)
		}
	}
	return o.index
}

// reset begins anew: without partitions, and with nothing in flight.
func (o *originals) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.here)
	if o.index != nil {
		o.index.Reset()
	}
}

// judging is the pass of pages: what an exchange makes is written once it is known
// what its page is a duplicate of, in that order.
func (o *originals) judging(out *outbox) pass {
	o.reset() // a stage that is built anew has another writer
	return func(ctx context.Context, r, whole *kgo.Record, finish func(reason string, err error)) {
		var d *draft
		made, reason := out.guard(func(r *kgo.Record) (made []Output, reason string) {
			d, made, reason = o.pages.read(r)
			return made, reason
		}, whole)
		if d == nil || reason != "" {
			out.write(ctx, r, made, reason, func(err error) { finish(reason, err) })
			return
		}
		// What is begun when the stage ends is finished like any other: pages after
		// one that is not would be written again.
		index, err := o.open(ctx)
		if err == nil {
			partition := topics.Partition(d.record.Domain, o.env.Definition.Partitions)
			err = index.Judge(ctx, partition, d.page(), func(v duplicates.Verdict, written func(int64, int64, error)) {
				if v.Duplicate() {
					o.env.Meter.Duplicate(v.Distance)
				}
				out.judged(ctx, r, d, v, written, finish)
			})
		}
		if err != nil {
			finish("", err)
		}
	}
}

var errRejected = errors.New("rejected")

// judged writes what d makes of an exchange, and says where its page was written.
func (o *outbox) judged(ctx context.Context, r *kgo.Record, d *draft, v duplicates.Verdict,
	written func(offset, bytes int64, err error), finish func(reason string, err error)) {
	made, reason := o.guard(func(*kgo.Record) ([]Output, string) { return d.outputs(v), "" }, r)
	if reason != "" {
		written(0, 0, errRejected)
		o.reject(ctx, r, reason, func(err error) { finish(reason, err) })
		return
	}
	acknowledged := gather(len(made), func(err error) { finish("", err) })
	o.send(ctx, made[0], func(page *kgo.Record, err error) {
		written(page.Offset, int64(len(page.Value)), err)
		acknowledged(page, err)
	})
	for _, other := range made[1:] {
		o.send(ctx, other, acknowledged)
	}
}

// evidentWords is the least number of words that show that two URLs of a domain
// name the same page.
const evidentWords = similar.MinWords

// contentEvidence is what a page shows about its URL that is a duplicate of
// another of its domain. A text of a few words, which pages that are otherwise
// different may share, does so only where traps are, and where it is the same, or
// the grid of a month.
func contentEvidence(url string, words int, relative bool, v duplicates.Verdict) []*weftpb.Evidence {
	if !v.Duplicate() || !v.Own || v.URL == url {
		return nil
	}
	kind := weftpb.Evidence_KIND_CONTENT
	if words < evidentWords {
		kind = weftpb.Evidence_KIND_EMPTY
		if looks := traps.Looks(url); looks == traps.SameContent || v.Distance > 0 && looks != traps.Calendar {
			return nil
		}
	}
	return []*weftpb.Evidence{{Kind: kind, Url: url, SameAs: v.URL, Distance: uint32(v.Distance), Relative: relative}}
}
