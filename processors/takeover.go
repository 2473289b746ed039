package processors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lease"
)

// take opens boards for partitions that the group assigned, and says from
// which offset their logs are read: what the last record calls oldest.
func (f *fetcher) take(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	topic := f.env.Names.Scheduled
	ends, err := f.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", topic, err)
	}
	starts, err := f.admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("start of %s: %w", topic, err)
	}
	reported, err := f.admin.ListEndOffsets(ctx, f.env.Names.Visited)
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", f.env.Names.Visited, err)
	}
	for partition := range offsets[topic] {
		end, ok := ends.Lookup(topic, partition)
		start, ok2 := starts.Lookup(topic, partition)
		known, ok3 := reported.Lookup(f.env.Names.Visited, partition)
		if err := errors.Join(end.Err, start.Err, known.Err); !ok || !ok2 || !ok3 || err != nil {
			return nil, fmt.Errorf("bounds of %s/%d: %w", topic, partition, err)
		}
		last, err := f.last(ctx, topic, partition, end.Offset-1)
		if err != nil {
			return nil, err
		}
		from, takenAt := max(start.Offset, min(last.GetOldest(), end.Offset)), time.Now()
		if f.env.Embedded && untouched(last.GetGauges()) {
			takenAt = time.Time{} // there is no other fetcher, and nobody was asked yet
		}
		f.post(partition, newBoard(f.life, topic, from, known.Offset, takenAt))
		offsets[topic][partition] = kgo.NewOffset().At(from)
	}
	return offsets, nil
}

// last returns the last event at or before offset that says what its partition
// holds, nil when there is none. Claims, and events that only move positions,
// do not say; nor does an event that a former owner wrote after the claim that
// fenced it, which is never where it says.
func (f *fetcher) last(ctx context.Context, topic string, partition int32, offset int64) (*weftpb.Scheduled, error) {
	for ; offset >= 0; offset-- {
		r, err := f.read(ctx, topic, partition, offset)
		if err != nil {
			return nil, err
		}
		var ev weftpb.Event
		var body weftpb.Scheduled
		if err := errors.Join(proto.Unmarshal(r.Value, &ev), proto.Unmarshal(ev.Body, &body)); err != nil {
			return nil, fmt.Errorf("%w: %s/%d at %d: %w", errFatal, topic, partition, offset, err)
		}
		if len(ev.Body) > 0 && ev.Offset == r.Offset {
			body.Oldest = min(body.Oldest, r.Offset)
			return &body, nil
		}
	}
	return nil, nil
}

// untouched tells that a partition never held a URL.
func untouched(g *weftpb.Gauges) bool {
	return g.GetPending() == 0 && g.GetFetched() == 0 && g.GetFailed() == 0 && g.GetRefused() == 0
}

// read reads one record.
func (f *fetcher) read(ctx context.Context, topic string, partition int32, offset int64) (one *kgo.Record, err error) {
	err = f.scan(ctx, topic, partition, offset, offset+1, func(r *kgo.Record) error { one = r; return nil })
	return one, err
}

// scan calls visit with the records from offset from to before offset to.
func (f *fetcher) scan(ctx context.Context, topic string, partition int32, from, to int64, visit func(*kgo.Record) error) error {
	if from >= to {
		return nil
	}
	client, err := f.env.client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topic: {partition: kgo.NewOffset().At(from)},
	}))
	if err != nil {
		return err
	}
	defer client.Close()
	for from < to {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return fmt.Errorf("read %s/%d at %d: %w", topic, partition, from, err)
		}
		for it := fetches.RecordIter(); !it.Done() && from < to; {
			r := it.Next()
			if err := visit(r); err != nil {
				return err
			}
			from = r.Offset + 1
		}
	}
	return nil
}

// post puts up a board, in place of one that was taken before.
func (f *fetcher) post(partition int32, b *board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.boards[partition]; old != nil {
		old.end(fetch.ErrLeaseLost)
	}
	f.boards[partition] = b
}

// board returns the board of a partition, nil when it is not ours.
func (f *fetcher) board(partition int32) *board {
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
				b.end(fetch.ErrLeaseLost)
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
		b.end(fetch.ErrLeaseLost)
	}
}

// heartbeats extends a lease with each good heartbeat of the group, and with
// the SyncGroup that began the membership. kgo does not tell whether an answer
// was good, but sends no further heartbeat after one that was not: each is
// booked when the next one has been answered.
type heartbeats struct {
	lease *lease.Lease

	mu       sync.Mutex
	answered time.Duration // when the last one was sent, by lease.BootTime; 0: none
}

// The keys of the requests in the Kafka protocol.
const (
	heartbeatKey = 12
	syncGroupKey = 14
)

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h *heartbeats) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key != heartbeatKey && key != syncGroupKey || e2e.Err() != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := lease.BootTime()
	if key == heartbeatKey && h.answered > 0 {
		h.lease.Extend(now - h.answered)
	}
	h.answered = now - e2e.DurationE2E()
}
