// Package replay reads topics from their first record to their last, or a range
// of them, for those who want to know what happened: proofs, explanations, and
// who takes work over. It changes nothing and joins no group.
package replay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// Reader reads logs. Safe for concurrent use.
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

// Bounds returns the bounds of a topic's partitions: of those that are named,
// whatever is the matter with others, or of all when none is.
func (r *Reader) Bounds(ctx context.Context, topic string, partitions ...int32) (map[int32]Bounds, error) {
	starts, err := r.admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("start of %s: %w", topic, err)
	}
	return r.boundsFrom(ctx, topic, starts, partitions)
}

// BoundsSince is Bounds of what was written at a time, in milliseconds since
// 1970, or later: from the first record on whose timestamp says so.
func (r *Reader) BoundsSince(ctx context.Context, topic string, ms int64, partitions ...int32) (map[int32]Bounds, error) {
	starts, err := r.admin.ListOffsetsAfterMilli(ctx, ms, topic)
	if err != nil {
		return nil, fmt.Errorf("time index of %s: %w", topic, err)
	}
	return r.boundsFrom(ctx, topic, starts, partitions)
}

// boundsFrom completes starts with the ends, which are asked for now.
func (r *Reader) boundsFrom(ctx context.Context, topic string, starts kadm.ListedOffsets, partitions []int32) (map[int32]Bounds, error) {
	ends, err := r.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", topic, err)
	}
	if len(partitions) == 0 {
		if err := errors.Join(starts.Error(), ends.Error()); err != nil {
			return nil, fmt.Errorf("bounds of %s: %w", topic, err)
		}
		partitions = slices.Collect(maps.Keys(ends[topic]))
	}
	bounds := map[int32]Bounds{}
	for _, partition := range partitions {
		start, ok := starts.Lookup(topic, partition)
		end, ok2 := ends.Lookup(topic, partition)
		err := errors.Join(start.Err, end.Err)
		if err == nil && !(ok && ok2) {
			err = kerr.UnknownTopicOrPartition
		}
		if err != nil {
			return nil, fmt.Errorf("bounds of %s/%d: %w", topic, partition, err)
		}
		bounds[partition] = Bounds{start.Offset, end.Offset}
	}
	return bounds, nil
}

// Event is a valid event of a ledger that says something, with its place.
type Event[B proto.Message] struct {
	Record    *kgo.Record
	Positions []*weftpb.Position
	Domain    string
	Body      B
}

// Part is the part of a ledger that is read; the zero value is all of it.
type Part struct {
	// Partitions to read; nil: all.
	Partitions []int32
	// Domain whose events are wanted: only their bodies are decoded. Empty:
	// those of all.
	Domain string
	// Damaged permits a ledger that is damaged: it is told the error, which wraps
	// ledger.ErrCorrupt, and what follows in that partition is left out. nil: such
	// an error ends the reading.
	Damaged func(partition int32, err error)
	// Trimmed permits a ledger that begins above 0, for those who can say what
	// they do not know.
	Trimmed bool
}

// bounds of the part within those of the ledger.
func (p Part) bounds(topic string, all map[int32]Bounds) (map[int32]Bounds, error) {
	wanted := map[int32]Bounds{}
	for partition, b := range all {
		if p.Partitions != nil && !slices.Contains(p.Partitions, partition) {
			continue
		}
		if b.Start > 0 && !p.Trimmed {
			return nil, fmt.Errorf("%w: %s/%d begins at %d", ledger.ErrTrimmed, topic, partition, b.Start)
		}
		wanted[partition] = b
	}
	return wanted, nil
}

// Scheduled calls visit with the valid events of the ledger scheduled that say
// something; records that are no events are passed over. The error wraps
// ledger.ErrCorrupt for an event that is proven to be damaged, and
// ledger.ErrTrimmed when the ledger is not whole.
func (r *Reader) Scheduled(ctx context.Context, topic string, visit func(Event[*weftpb.Scheduled]) error) error {
	return r.ScheduledPart(ctx, topic, Part{}, visit)
}

// ScheduledPart is Scheduled for a part of the ledger.
func (r *Reader) ScheduledPart(ctx context.Context, topic string, part Part, visit func(Event[*weftpb.Scheduled]) error) error {
	return events(ctx, r, topic, part, func() *weftpb.Scheduled { return new(weftpb.Scheduled) }, visit)
}

// Deduped is Scheduled for the ledger deduped.
func (r *Reader) Deduped(ctx context.Context, topic string, visit func(Event[*weftpb.Deduped]) error) error {
	return r.DedupedPart(ctx, topic, Part{}, visit)
}

// DedupedPart is Deduped for a part of the ledger.
func (r *Reader) DedupedPart(ctx context.Context, topic string, part Part, visit func(Event[*weftpb.Deduped]) error) error {
	return events(ctx, r, topic, part, func() *weftpb.Deduped { return new(weftpb.Deduped) }, visit)
}

func events[B proto.Message](ctx context.Context, r *Reader, topic string, part Part, body func() B, visit func(Event[B]) error) error {
	all, err := r.Bounds(ctx, topic)
	if err != nil {
		return err
	}
	bounds, err := part.bounds(topic, all)
	if err != nil {
		return err
	}
	followers := map[int32]*follower{}
	return r.read(ctx, topic, bounds, func(record *kgo.Record) error {
		f := followers[record.Partition]
		if f == nil {
			if err := ledger.Reaches(topic, record.Partition, record.Offset, 0); err != nil && !part.Trimmed {
				return err // trimmed this moment
			}
			f = new(follower)
			followers[record.Partition] = f
		}
		if f.lost {
			return nil
		}
		e := Event[B]{Record: record, Domain: string(record.Key)}
		ev, err := f.read(record)
		switch {
		case err == nil && (ev == nil || len(ev.Body) == 0 || part.Domain != "" && part.Domain != e.Domain):
			return nil
		case err == nil:
			e.Positions, e.Body = ev.Positions, body()
			err = decode(ev, e.Body, record)
		}
		if err == nil {
			err = visit(e)
		}
		if part.Damaged != nil && errors.Is(err, ledger.ErrCorrupt) {
			f.lost = true
			part.Damaged(record.Partition, err)
			return nil
		}
		return err
	})
}

// follower reads one partition of a ledger.
type follower struct {
	ledger.Reader
	gaps
	lost bool // it is damaged; what follows does not count
}

func (f *follower) read(r *kgo.Record) (*weftpb.Event, error) {
	if err := f.look(r); err != nil {
		return nil, err
	}
	return f.Read(r.Value, r.Topic, r.Partition, r.Offset)
}

// decode decodes what the event of a record says.
func decode(ev *weftpb.Event, body proto.Message, of *kgo.Record) error {
	if err := proto.Unmarshal(ev.Body, body); err != nil {
		return fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, of.Topic, of.Partition, of.Offset, err)
	}
	return nil
}
