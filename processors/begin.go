package processors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// beginBoards starts the work of partitions that were taken, until ctx ends.
// Each waits until the scheduler has settled what the former owner reported,
// and then reports what that owner fetched and did not come to report: only
// requests that were in flight are made again.
func (f *fetcher) beginBoards(ctx context.Context) error {
	ticker := time.NewTicker(beginEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		waiting := f.waiting()
		if len(waiting) == 0 {
			continue
		}
		if err := f.beginSettled(ctx, waiting); err != nil && ctx.Err() == nil {
			return err
		}
	}
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
	commits, err := f.admin.FetchOffsetsForTopics(ctx, f.env.Names.Group(topics.Schedule), visited)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // it has not begun
		return fmt.Errorf("commits of %s: %w", topics.Schedule, err)
	}
	starts, err := f.admin.ListStartOffsets(ctx, visited)
	if err != nil {
		return fmt.Errorf("start of %s: %w", visited, err)
	}
	// Read after the commits: what they settled lies before it.
	ends, err := f.admin.ListEndOffsets(ctx, scheduled)
	if err != nil {
		return fmt.Errorf("end of %s: %w", scheduled, err)
	}
	for partition, b := range waiting {
		commit, _ := commits.Lookup(visited, partition)
		start, _ := starts.Lookup(visited, partition)
		end, ok := ends.Lookup(scheduled, partition)
		if err := errors.Join(commit.Err, start.Err, end.Err); err != nil || !ok {
			return fmt.Errorf("what is settled of %s/%d: %w", visited, partition, err)
		}
		if !b.MayBegin(commit.At, start.Offset, end.Offset) {
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
	starts, err := f.admin.ListOffsetsAfterMilli(ctx, search.SinceMs, topic)
	if err != nil {
		return fmt.Errorf("time index of %s: %w", topic, err)
	}
	ends, err := f.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return fmt.Errorf("end of %s: %w", topic, err)
	}
	start, end, err := bounds(starts, ends, topic, partition)
	if err != nil {
		return err
	}
	if start >= end {
		// Nothing since then, if the clock was not set back meanwhile. What is
		// kept is not much: parse is not far behind, and the rest is trimmed.
		if starts, err = f.admin.ListStartOffsets(ctx, topic); err != nil {
			return fmt.Errorf("start of %s: %w", topic, err)
		}
		if start, end, err = bounds(starts, ends, topic, partition); err != nil {
			return err
		}
	}
	return f.scan(ctx, topic, partition, start, end, func(r *kgo.Record) error {
		search.Look(r.Value)
		return nil
	})
}

func bounds(starts, ends kadm.ListedOffsets, topic string, partition int32) (start, end int64, err error) {
	from, ok := starts.Lookup(topic, partition)
	to, ok2 := ends.Lookup(topic, partition)
	if err := errors.Join(from.Err, to.Err); !ok || !ok2 || err != nil {
		return 0, 0, fmt.Errorf("bounds of %s/%d: %w", topic, partition, err)
	}
	return from.Offset, to.Offset, nil
}
