package processors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
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
func (f *fetcher) waiting() map[int32]*board {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := map[int32]*board{}
	for partition, b := range f.boards {
		if !b.begun {
			waiting[partition] = b
		}
	}
	return waiting
}

// beginSettled begins those boards whose reports are settled and folded.
func (f *fetcher) beginSettled(ctx context.Context, waiting map[int32]*board) error {
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
		if max(commit.At, start.Offset) < b.reported || !b.folded(end.Offset) {
			continue
		}
		if err := f.begin(ctx, partition, b); err != nil {
			return err
		}
	}
	return nil
}

// begin starts what is released and not settled in a partition.
func (f *fetcher) begin(ctx context.Context, partition int32, b *board) error {
	b.begun = true
	done, err := f.fetched(ctx, partition, b.unsettled())
	if err != nil {
		return err
	}
	for _, p := range b.begin() {
		if f.asking.resume(p, done[p.visit.Id]) {
			f.start(b, p)
		}
	}
	return nil
}

// fetched returns the outcomes of visits, by id, that are in fetched.
func (f *fetcher) fetched(ctx context.Context, partition int32, left []*posted) (map[string][]*weftpb.Outcome, error) {
	if len(left) == 0 {
		return nil, nil
	}
	open, first := map[string]bool{}, left[0].releasedMs
	for _, p := range left {
		open[p.visit.Id] = true
		first = min(first, p.releasedMs)
	}
	topic := f.env.Names.Fetched
	starts, err := f.admin.ListOffsetsAfterMilli(ctx, max(first-maxSkew.Milliseconds(), 0), topic)
	if err != nil {
		return nil, fmt.Errorf("time index of %s: %w", topic, err)
	}
	ends, err := f.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", topic, err)
	}
	start, end, err := bounds(starts, ends, topic, partition)
	if err != nil {
		return nil, err
	}
	done := map[string][]*weftpb.Outcome{}
	err = f.scan(ctx, topic, partition, start, end, func(r *kgo.Record) error {
		var record weftpb.Fetched
		// What cannot be decoded is parse's to reject.
		if proto.Unmarshal(r.Value, &record) == nil && open[record.Visit] {
			done[record.Visit] = append(done[record.Visit], record.Outcome)
		}
		return nil
	})
	return done, err
}

// maxSkew is how much later than a fetcher's the clock of a scheduler may be
// for what was fetched to be found again.
const maxSkew = time.Minute

func bounds(starts, ends kadm.ListedOffsets, topic string, partition int32) (start, end int64, err error) {
	from, ok := starts.Lookup(topic, partition)
	to, ok2 := ends.Lookup(topic, partition)
	if err := errors.Join(from.Err, to.Err); !ok || !ok2 || err != nil {
		return 0, 0, fmt.Errorf("bounds of %s/%d: %w", topic, partition, err)
	}
	return from.Offset, to.Offset, nil
}
