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

// LastDecision returns the last valid event of a log of scheduled that says
// what its partition holds, nil when none does: claims, and events that only
// move positions, do not. Its Oldest is never beyond the event itself. scan
// calls visit with the records of the log within bounds, in order. The error
// wraps ledger.ErrCorrupt for a record that is no event.
func LastDecision(log Bounds, scan func(within Bounds, visit func(*kgo.Record) error) error) (*weftpb.Scheduled, error) {
	for back := int64(window); ; back *= widen {
		within := Bounds{max(log.Start, log.End-back), log.End}
		var (
			reader ledger.Reader
			last   *kgo.Record
			said   *weftpb.Event
		)
		err := scan(within, func(r *kgo.Record) error {
			ev, err := reader.Read(r.Value, r.Topic, r.Partition, r.Offset)
			if ev != nil && len(ev.Body) > 0 {
				last, said = r, ev
			}
			return err
		})
		switch {
		case err != nil:
			return nil, err
		case said != nil:
			decision := new(weftpb.Scheduled)
			if err := decode(said, decision, last); err != nil {
				return nil, err
			}
			decision.Oldest = min(decision.Oldest, last.Offset)
			return decision, nil
		case within.Start <= log.Start:
			return nil, nil
		}
	}
}

// LastDecision returns the last decision of a partition of scheduled that is
// within its bounds.
func (r *Reader) LastDecision(ctx context.Context, topic string, partition int32, log Bounds) (*weftpb.Scheduled, error) {
	return LastDecision(log, func(within Bounds, visit func(*kgo.Record) error) error {
		return r.Range(ctx, topic, map[int32]Bounds{partition: within}, visit)
	})
}
