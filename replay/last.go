package replay

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// window is how many records are read at first, and widen by how much more when
// they tell nothing, since they are claims or older owners' events. What lies
// before the window may hold a claim that makes its events invalid; an owner
// that lost the partition stops at its first acknowledgement, so that a window
// of nothing but its events is the work of a moment, and the next reading is
// right.
const (
	window = 64
	widen  = 16
)

// Last is what the end of a log of scheduled says.
type Last struct {
	// Decision of the last valid event that says what its partition holds, nil
	// when none does. Its Oldest is never beyond the event itself.
	Decision *weftpb.Scheduled
	// Strangers is how many records of the ledgers were no events, up to here.
	Strangers int64
}

// ReadLast returns what the end of a log of scheduled says: claims, and events
// that only move positions, do not. scan calls visit with the records of the log
// within bounds, in order. The error wraps ledger.ErrCorrupt for an event that is
// proven to be damaged.
func ReadLast(log Bounds, scan func(within Bounds, visit func(*kgo.Record) error) error) (Last, error) {
	for back := int64(window); ; back *= widen {
		within := Bounds{max(log.Start, log.End-back), log.End}
		var (
			reader ledger.Reader
			last   *kgo.Record
			said   *weftpb.Event
			before int64 // strangers, as the last valid event and the records before it have them
			gaps   gaps
		)
		err := scan(within, func(r *kgo.Record) error {
			if err := gaps.look(r); err != nil {
				return err
			}
			ev, err := reader.Read(r.Value, r.Topic, r.Partition, r.Offset)
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

// LastDecision is the Decision of ReadLast.
func LastDecision(log Bounds, scan func(within Bounds, visit func(*kgo.Record) error) error) (*weftpb.Scheduled, error) {
	last, err := ReadLast(log, scan)
	return last.Decision, err
}

// LastDecision returns the last decision of a partition of scheduled that is
// within its bounds.
func (r *Reader) LastDecision(ctx context.Context, topic string, partition int32, log Bounds) (*weftpb.Scheduled, error) {
	return LastDecision(log, func(within Bounds, visit func(*kgo.Record) error) error {
		return r.read(ctx, topic, map[int32]Bounds{partition: within}, visit)
	})
}
