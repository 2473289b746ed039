package processors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

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
		last, err := LastDecision(topic, partition, end.Offset, func(offset int64) ([]byte, error) {
			return f.read(ctx, topic, partition, offset)
		})
		if err != nil {
			return nil, err
		}
		b := TakeOver(f.life, Takeover{
			Topic: topic, Start: start.Offset, End: end.Offset, Last: last, Reported: known.Offset,
			At: time.Now(), Alone: f.env.Embedded,
		})
		f.post(partition, b)
		offsets[topic][partition] = kgo.NewOffset().At(b.Next())
	}
	return offsets, nil
}

// read reads the value of one record.
func (f *fetcher) read(ctx context.Context, topic string, partition int32, offset int64) (value []byte, err error) {
	err = f.scan(ctx, topic, partition, offset, offset+1, func(r *kgo.Record) error { value = r.Value; return nil })
	return value, err
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
