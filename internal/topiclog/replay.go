// Package topiclog reads a range of a topic, or all of it. Proofs, explanations and
// takeovers learn with it what happened. It changes nothing and joins no group.
package topiclog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kafka"
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
	client, err := kafka.NewClient(options...)
	if err != nil {
		return nil, err
	}
	return &Reader{options: options, client: client, admin: kadm.NewClient(client)}, nil
}

// Close frees the connection.
func (r *Reader) Close() { r.client.Close() }

// Bounds of a partition's log.
type Bounds = kafka.Bounds

// Bounds returns the bounds of a topic's partitions, as kafka.BoundsOf does.
func (r *Reader) Bounds(ctx context.Context, topic string, partitions ...int32) (map[int32]Bounds, error) {
	return kafka.BoundsOf(ctx, r.admin, topic, partitions...)
}

// BoundsSince returns the bounds of a topic's partitions, as kafka.BoundsSince does.
func (r *Reader) BoundsSince(ctx context.Context, topic string, ms int64, partitions ...int32) (map[int32]Bounds, error) {
	return kafka.BoundsSince(ctx, r.admin, topic, ms, partitions...)
}

// Event is a valid event of a ledger with a body, and its place.
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
	// Domain limits the events to one domain. Empty: all events.
	Domain string
	// Damaged permits a damaged ledger: it is called with the error, which wraps
	// ledger.ErrCorrupt, and the rest of that partition is left out. nil: such an error
	// ends the reading.
	Damaged func(partition int32, err error)
	// Trimmed permits a ledger that begins above 0, for callers that can say what they do
	// not know.
	Trimmed bool
}

// bounds of the part within the bounds of the ledger.
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

// Scheduled calls visit with the valid events of a part of the ledger scheduled that say
// something; records that are not events are skipped. The error wraps ledger.ErrCorrupt
// for an event that is proven to be damaged, and ledger.ErrTrimmed when the ledger is
// not whole.
func (r *Reader) Scheduled(ctx context.Context, topic string, part Part, visit func(Event[*weftpb.Scheduled]) error) error {
	return events(ctx, r, topic, part, func() *weftpb.Scheduled { return new(weftpb.Scheduled) }, visit)
}

// Deduped is Scheduled for the ledger deduped.
func (r *Reader) Deduped(ctx context.Context, topic string, part Part, visit func(Event[*weftpb.Deduped]) error) error {
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

type follower struct {
	ledger.EventReader
	gaps
	lost bool // it is damaged; what follows does not count
}

func (f *follower) read(r *kgo.Record) (*weftpb.Event, error) {
	if err := f.look(r); err != nil {
		return nil, err
	}
	return f.Read(r.Value, r.Topic, r.Partition, r.Offset)
}

func decode(ev *weftpb.Event, body proto.Message, of *kgo.Record) error {
	if err := proto.Unmarshal(ev.Body, body); err != nil {
		return fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, of.Topic, of.Partition, of.Offset, err)
	}
	return nil
}

// gaps follows the offsets of a ledger's partition. Ledgers are never compacted, and
// control records are read too, so a missing offset between two others means damage that
// cannot be read.
type gaps struct {
	next  int64
	begun bool // something was read; what is missing before that may be trimmed
}

// look returns an error that wraps ledger.ErrCorrupt when records before r are
// missing.
func (g *gaps) look(r *kgo.Record) error {
	if r.Offset > g.next && g.begun {
		return fmt.Errorf("%w: %s/%d at %d: nothing can be read up to %d", ledger.ErrCorrupt, r.Topic, r.Partition, g.next, r.Offset)
	}
	g.next, g.begun = r.Offset+1, true
	return nil
}
