// Package replay reads topics from their first record to their last, for those
// who want to know what happened: proofs and explanations. It changes nothing
// and joins no group.
package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// Reader reads logs. Not for concurrent use.
type Reader struct {
	options []kgo.Opt
	client  *kgo.Client
	admin   *kadm.Client
}

// New connects; options say where the brokers are. Close it.
func New(options ...kgo.Opt) (*Reader, error) {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &Reader{options: options, client: client, admin: kadm.NewClient(client)}, nil
}

// Close frees the connection.
func (r *Reader) Close() { r.client.Close() }

// Bounds of one partition: it holds the offsets from Start to before End.
type Bounds struct{ Start, End int64 }

// Bounds returns the bounds of a topic's partitions.
func (r *Reader) Bounds(ctx context.Context, topic string) (map[int32]Bounds, error) {
	starts, err := r.admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("start of %s: %w", topic, err)
	}
	ends, err := r.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", topic, err)
	}
	if err := errors.Join(starts.Error(), ends.Error()); err != nil {
		return nil, fmt.Errorf("bounds of %s: %w", topic, err)
	}
	bounds := map[int32]Bounds{}
	ends.Each(func(end kadm.ListedOffset) {
		start, _ := starts.Lookup(topic, end.Partition)
		bounds[end.Partition] = Bounds{start.Offset, end.Offset}
	})
	return bounds, nil
}

// Records calls visit with every record that topic holds at the moment of the
// call, each partition in order, partitions in any. An error of visit ends it.
func (r *Reader) Records(ctx context.Context, topic string, visit func(*kgo.Record) error) error {
	left, err := r.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	from := map[int32]kgo.Offset{}
	for partition, b := range left {
		if b.Start == b.End {
			delete(left, partition)
			continue
		}
		from[partition] = kgo.NewOffset().At(b.Start)
	}
	if len(left) == 0 {
		return nil
	}
	client, err := kgo.NewClient(append(r.options, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))...)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer client.Close()
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return fmt.Errorf("read %s: %w", topic, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			record := it.Next()
			bounds, ok := left[record.Partition]
			if !ok || record.Offset >= bounds.End {
				continue // written since
			}
			if err := visit(record); err != nil {
				return err
			}
			if record.Offset == bounds.End-1 {
				delete(left, record.Partition)
			}
		}
	}
	return nil
}

// Event is a valid event of a ledger that says something, with its place.
type Event[B proto.Message] struct {
	Record    *kgo.Record
	Positions []*weftpb.Position
	Domain    string
	Body      B
}

// Scheduled calls visit with the valid events of the ledger scheduled that say
// something. The error wraps ledger.ErrCorrupt for a record that is no event,
// and ledger.ErrTrimmed when the ledger is not whole.
func (r *Reader) Scheduled(ctx context.Context, topic string, visit func(Event[*weftpb.Scheduled]) error) error {
	return events(ctx, r, topic, func() *weftpb.Scheduled { return new(weftpb.Scheduled) }, visit)
}

// Deduped is Scheduled for the ledger deduped.
func (r *Reader) Deduped(ctx context.Context, topic string, visit func(Event[*weftpb.Deduped]) error) error {
	return events(ctx, r, topic, func() *weftpb.Deduped { return new(weftpb.Deduped) }, visit)
}

func events[B proto.Message](ctx context.Context, r *Reader, topic string, body func() B, visit func(Event[B]) error) error {
	bounds, err := r.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	for partition, b := range bounds {
		if b.Start > 0 {
			return fmt.Errorf("%w: %s/%d begins at %d", ledger.ErrTrimmed, topic, partition, b.Start)
		}
	}
	readers := map[int32]*ledger.Reader{}
	return r.Records(ctx, topic, func(record *kgo.Record) error {
		reader := readers[record.Partition]
		if reader == nil {
			reader = new(ledger.Reader)
			readers[record.Partition] = reader
		}
		ev, err := reader.Read(record.Value, topic, record.Partition, record.Offset)
		if err != nil {
			return err
		}
		if ev == nil || len(ev.Body) == 0 {
			return nil
		}
		e := Event[B]{Record: record, Positions: ev.Positions, Domain: string(record.Key), Body: body()}
		if err := proto.Unmarshal(ev.Body, e.Body); err != nil {
			return fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, topic, record.Partition, record.Offset, err)
		}
		return visit(e)
	})
}
