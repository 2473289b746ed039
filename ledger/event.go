package ledger

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// ErrCorrupt means that a ledger holds a record that is no event, or an event
// that does not fit the state. Nothing can be decided on such a partition.
var ErrCorrupt = errors.New("corrupt ledger event")

// encode returns the record of ev.
func encode(ev *weftpb.Event) []byte {
	raw, err := proto.Marshal(ev)
	if err != nil {
		// Marshalling fails only on strings that are not UTF-8; events hold
		// topic names and owners.
		panic(fmt.Sprintf("ledger: marshal event: %v", err))
	}
	return raw
}

// decode returns the event of a record.
func decode(raw []byte, topic string, partition int32, offset int64) (*weftpb.Event, error) {
	ev := new(weftpb.Event)
	if err := proto.Unmarshal(raw, ev); err != nil {
		return nil, fmt.Errorf("%w: %s/%d at %d: %w", ErrCorrupt, topic, partition, offset, err)
	}
	if ev.Claim == nil && ev.Epoch == 0 {
		return nil, fmt.Errorf("%w: %s/%d at %d: names no claim", ErrCorrupt, topic, partition, offset)
	}
	return ev, nil
}

// Reader follows a ledger partition and tells which of its events are valid.
// The zero value knows no claim; a reader that starts in the middle takes the
// newest epoch that an event names for the latest claim.
type Reader struct {
	// Epoch of the latest claim seen.
	Epoch int64
}

// Read decodes the record at offset. It returns nil for a claim, for an event
// that an older owner wrote after a newer one's claim, and for one that is not
// where its owner meant it to be: events before it were lost, and it must not
// count without them.
func (r *Reader) Read(raw []byte, topic string, partition int32, offset int64) (*weftpb.Event, error) {
	ev, err := decode(raw, topic, partition, offset)
	if err != nil {
		return nil, err
	}
	if ev.Claim != nil {
		r.Epoch = offset + 1
		return nil, nil
	}
	if ev.Epoch < r.Epoch {
		return nil, nil
	}
	r.Epoch = ev.Epoch
	if ev.Offset != offset {
		return nil, nil
	}
	return ev, nil
}
