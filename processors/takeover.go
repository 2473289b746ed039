package processors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/ledger"
)

// take opens boards for partitions that the group assigned, and says from
// which offset their logs are read: what the last record calls oldest.
func (f *fetcher) take(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	topic := f.env.Names.Scheduled
	ours := slices.Collect(maps.Keys(offsets[topic]))
	decided, err := f.logs.Bounds(ctx, topic, ours...)
	if err != nil {
		return nil, err
	}
	reported, err := f.logs.Bounds(ctx, f.env.Names.Visited, ours...)
	if err != nil {
		return nil, err
	}
	for _, partition := range ours {
		log := decided[partition]
		last, err := f.logs.LastDecision(ctx, topic, partition, log)
		if errors.Is(err, ledger.ErrCorrupt) {
			err = fmt.Errorf("%w: %w", errFatal, err)
		}
		if err != nil {
			return nil, err
		}
		b := TakeOver(f.life, Takeover{
			Topic: topic, Start: log.Start, End: log.End, Last: last, Reported: reported[partition].End,
			At: time.Now(), Alone: f.env.Embedded,
		})
		f.post(partition, b)
		offsets[topic][partition] = kgo.NewOffset().At(b.Next())
	}
	return offsets, nil
}

// post puts up a board, in place of one that was taken before.
func (f *fetcher) post(partition int32, b *Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.boards[partition]; old != nil {
		old.End(fetch.ErrLeaseLost)
	}
	f.boards[partition] = b
}

// board returns the board of a partition, nil when it is not ours.
func (f *fetcher) board(partition int32) *Board {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.boards[partition]
}

// drop ends the work on partitions that are somebody else's now: requests in
// flight are cancelled, and what they would have reported is left to the next
// owner.
func (f *fetcher) drop(lost map[string][]int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, partitions := range lost {
		for _, p := range partitions {
			if b := f.boards[p]; b != nil {
				b.End(fetch.ErrLeaseLost)
				delete(f.boards, p)
			}
			f.backlog.forget(p)
		}
	}
}

// endAll ends the work on every partition.
func (f *fetcher) endAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.boards {
		b.End(fetch.ErrLeaseLost)
	}
}
