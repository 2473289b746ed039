package topiclog

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// window is how many records are read first. If they say nothing, because they are claims
// or events of older owners, widen times as many are read. A claim before the window may
// make its events invalid. But an owner that lost the partition stops at its first
// acknowledgement, so a window full of its events exists only for a moment, and the next
// reading is right.
const (
	window = 64
	widen  = 16
)

// Last is what the end of a log of scheduled says.
type Last struct {
	// Decision is the decision of the last valid event with a body, nil if there is no such
	// event. Its Oldest is never beyond the event itself.
	Decision *weftpb.Scheduled
	// Strangers is how many records of the ledgers up to here are not events.
	Strangers int64
}

// ReadLast returns what the end of a log of scheduled says. Claims and events that only
// move positions say nothing. scan calls visit with the records of the log within bounds,
// in order. The error wraps ledger.ErrCorrupt for an event that is proven to be damaged.
func ReadLast(log Bounds, scan func(within Bounds, visit func(*kgo.Record) error) error) (Last, error) {
	for back := int64(window); ; back *= widen {
		within := Bounds{Start: max(log.Start, log.End-back), End: log.End}
		var (
			reader follower
			last   *kgo.Record
			said   *weftpb.Event
			before int64 // strangers, as the last valid event and the records before it have them
		)
		err := scan(within, func(r *kgo.Record) error {
			ev, err := reader.read(r)
			if ev != nil {
				before = ev.Strangers - reader.Strangers
			}
			if ev != nil && len(ev.Body) > 0 {
				last, said = r, ev
			}
			return err
		})
		switch {
		case err != nil:
			return Last{}, err
		case said != nil:
			decision := new(weftpb.Scheduled)
			if err := decode(said, decision, last); err != nil {
				return Last{}, err
			}
			decision.Oldest = min(decision.Oldest, last.Offset)
			return Last{decision, before + reader.Strangers}, nil
		case within.Start <= log.Start:
			return Last{Strangers: before + reader.Strangers}, nil
		}
	}
}

// LastDecision returns the last decision of a partition of scheduled that is
// within its bounds.
func (r *Reader) LastDecision(ctx context.Context, topic string, partition int32, log Bounds) (*weftpb.Scheduled, error) {
	last, err := ReadLast(log, func(within Bounds, visit func(*kgo.Record) error) error {
		return r.read(ctx, topic, map[int32]Bounds{partition: within}, visit)
	})
	return last.Decision, err
}
