package processors

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/supervise"
	"github.com/weftcrawl/weft/topics"
)

// beginBoards starts the work of partitions that were taken, until ctx ends.
// Each waits until the scheduler has settled what the former owner reported,
// and then reports what that owner fetched and did not come to report: only
// requests that were in flight are made again.
func (f *fetcher) beginBoards(ctx context.Context) error {
	return supervise.Every(ctx, beginEvery, func() error {
		if waiting := f.waiting(); len(waiting) > 0 {
			return f.beginSettled(ctx, waiting)
		}
		return nil
	})
}

const beginEvery = 50 * time.Millisecond

// waiting are the boards that have not begun.
func (f *fetcher) waiting() map[int32]*Board {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := map[int32]*Board{}
	for partition, b := range f.boards {
		if !b.begun {
			waiting[partition] = b
		}
	}
	return waiting
}

// beginSettled begins those boards whose reports are settled and folded.
func (f *fetcher) beginSettled(ctx context.Context, waiting map[int32]*Board) error {
	visited, scheduled := f.env.Names.Visited, f.env.Names.Scheduled
	commits, err := f.logs.Commits(ctx, f.env.Names.Group(topics.Schedule), visited)
	if err != nil {
		return err
	}
	partitions := slices.Collect(maps.Keys(waiting))
	reported, err := f.logs.Bounds(ctx, visited, partitions...)
	if err != nil {
		return err
	}
	// Read after the commits: what they settled lies before its end.
	decided, err := f.logs.Bounds(ctx, scheduled, partitions...)
	if err != nil {
		return err
	}
	for partition, b := range waiting {
		if !b.MayBegin(commits[partition], reported[partition].Start, decided[partition].End) {
			continue
		}
		if err := f.begin(ctx, partition, b); err != nil {
			return err
		}
	}
	return nil
}

// begin starts what is released and not settled in a partition.
func (f *fetcher) begin(ctx context.Context, partition int32, b *Board) error {
	b.begun = true
	search := b.Search()
	if !search.Empty() {
		if err := f.search(ctx, partition, search); err != nil {
			return err
		}
	}
	for _, p := range b.Begin() {
		if f.asking.resume(p, search.Done[p.visit.Id]) {
			f.start(b, p)
		}
	}
	return nil
}

// search looks through what was fetched of a partition.
func (f *fetcher) search(ctx context.Context, partition int32, search *Search) error {
	topic := f.env.Names.Fetched
	log, err := f.logs.BoundsSince(ctx, topic, search.SinceMs, partition)
	if err == nil && log[partition].Start >= log[partition].End {
		// Nothing since then, if the clock was not set back meanwhile. What is
		// kept is not much: parse is not far behind, and the rest is trimmed.
		log, err = f.logs.Bounds(ctx, topic, partition)
	}
	if err != nil {
		return err
	}
	return f.logs.Range(ctx, topic, log, func(r *kgo.Record) error {
		search.Look(r.Value)
		return nil
	})
}
