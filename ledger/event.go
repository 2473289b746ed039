package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

// ErrCorrupt means that an event of a ledger is proven to be damaged, or does not fit
// the state. The partition cannot go on.
var ErrCorrupt = errors.New("corrupt ledger event")

// errStranger means that a record is not an event: another program wrote it.
var errStranger = errors.New("not an event")

// Encode returns the record of ev, with its checksum.
func Encode(ev *weftpb.Event) ([]byte, error) {
	ev.Sum = nil
	raw, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, 0, proto.Size(ev)+sumBytes), ev)
	if err != nil {
		return nil, err
	}
	return binary.LittleEndian.AppendUint32(append(raw, sumTag...), checksum(raw)), nil
}

// sumTag is the tag of Event.sum on the wire.
var sumTag = protowire.AppendTag(nil, 262143, protowire.Fixed32Type)

// sumBytes is the length of the checksum's field at the end of an event.
var sumBytes = len(sumTag) + 4

// marked tells whether a record ends as events with a checksum do.
func marked(raw []byte) bool {
	return len(raw) >= sumBytes && bytes.Equal(raw[len(raw)-sumBytes:len(raw)-4], sumTag)
}

// encode is Encode for events of this package.
func encode(ev *weftpb.Event) []byte {
	raw, err := Encode(ev)
	if err != nil {
		// Marshalling fails only on strings that are not UTF-8; events hold
		// topic names and owners.
		panic(fmt.Sprintf("ledger: marshal event: %v", err))
	}
	return raw
}

// decode returns the event of a record. The error is errStranger for a record of
// another program, and wraps ErrCorrupt for an event whose bytes are not those that
// were written.
//
// A wrong checksum alone proves nothing: another program may have copied an event and changed
// it. But an event that still names the offset at which it stands was written for this place.
// If the damage changed that offset, the event is skipped like a record of another program, and
// later events prove the damage (see EventReader.Read).
func decode(raw []byte, topic string, partition int32, offset int64) (*weftpb.Event, error) {
	ev := new(weftpb.Event)
	err := codecs.UnmarshalEvent(raw, ev)
	if marked(raw) && checksum(raw[:len(raw)-sumBytes]) != binary.LittleEndian.Uint32(raw[len(raw)-4:]) {
		if err == nil && ev.Claim == nil && ev.Offset == offset || endsWithOffset(raw, offset) {
			return nil, fmt.Errorf("%w: %s/%d at %d: its checksum is wrong", ErrCorrupt, topic, partition, offset)
		}
		return nil, errStranger
	}
	if err != nil || ev.Claim == nil && ev.Epoch <= 0 || ev.Claim != nil && !marked(raw) && !onlyClaims(ev) {
		return nil, errStranger
	}
	return ev, nil
}

// endsWithOffset tells whether a marked record ends as the event at offset does. The
// end is its offset, the number of events that were not acknowledged, and the number
// of strangers; the latter two may be missing. What comes before may be so damaged
// that it is not a message.
func endsWithOffset(raw []byte, offset int64) bool {
	end := raw[:len(raw)-sumBytes]
	place := protowire.AppendVarint(protowire.AppendTag(nil, 6, protowire.VarintType), uint64(offset))
	const counts = 2 * (1 + 10) // two tags with their varints
	at := bytes.LastIndex(end[max(0, len(end)-len(place)-counts):], place)
	if at < 0 {
		return false
	}
	rest := end[max(0, len(end)-len(place)-counts)+at+len(place):]
	for last := protowire.Number(6); len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 || kind != protowire.VarintType || number <= last || number > 8 {
			return false
		}
		_, m := protowire.ConsumeVarint(rest[n:])
		if m < 0 {
			return false
		}
		last, rest = number, rest[n+m:]
	}
	return true
}

// onlyClaims tells a claim without a checksum from a record of another type that happens to
// decode as one: bytes that are not a message count as an empty one.
func onlyClaims(ev *weftpb.Event) bool {
	return proto.Equal(ev, &weftpb.Event{Claim: &weftpb.Claim{Owner: ev.Claim.Owner}})
}

// EventReader follows a partition of a ledger and tells which of its events are valid. The zero
// value knows no claim. If it starts in the middle of the log, it takes the newest claim before
// the start that is named by an event at its own offset.
type EventReader struct {
	// Epoch of the latest claim seen.
	Epoch int64
	// Hole is the first offset after that claim at which an event of its owner is
	// missing, 0 while none is. Events after it do not count: the owner has lost an
	// event, or another process has written, and the owner stops when it learns that.
	Hole int64
	// Strangers counts the records that are not events.
	Strangers int64

	// first is the first offset that was read plus one, 0 if the claim in force is
	// known from the start.
	first int64
	// strange says that a record which is not an event made the hole, or is behind it.
	strange bool
}

// Read decodes the record at offset. The body of the event is a part of raw. It returns nil for a record that does not count:
//   - a claim;
//   - an event that an older owner wrote after a newer owner's claim;
//   - an event that does not stand at the offset that it names, or that comes after
//     such a place: events before it were lost, and it must not count without them;
//   - a record of another program, which is not an event.
//
// The error wraps ErrCorrupt when an event is proven to be damaged: it is at the offset that it
// names, and its checksum is wrong; or another record is in its place, although the event was
// acknowledged to its owner; or a claim is missing that a later event names.
func (r *EventReader) Read(raw []byte, topic string, partition int32, offset int64) (*weftpb.Event, error) {
	if r.Epoch == 0 && r.first == 0 {
		r.first = offset + 1
	}
	ev, err := decode(raw, topic, partition, offset)
	switch {
	case err == errStranger:
		r.Strangers++
		r.strange = true
		r.breaks(offset)
		return nil, nil
	case err != nil:
		return nil, err
	case ev.Claim != nil:
		r.Epoch, r.Hole, r.first, r.strange = offset+1, 0, 0, false
		return nil, nil
	case ev.Offset != offset || ev.Epoch < r.Epoch:
		r.breaks(offset)
		return nil, nil
	case ev.Epoch > r.Epoch && ev.Epoch >= r.first:
		return nil, fmt.Errorf("%w: %s/%d at %d: the claim is missing that the event at %d names",
			ErrCorrupt, topic, partition, ev.Epoch-1, offset)
	case ev.Epoch > r.Epoch:
		r.Epoch = ev.Epoch
		if begin := r.first - 1; begin < offset && r.Hole == 0 {
			r.Hole = begin // an older owner's record stands after this claim
		}
	}
	if r.Hole == 0 || ev.Sum == nil && !r.strange { // older programs did not write what was acknowledged
		return ev, nil
	}
	if r.Hole < offset-ev.Unacknowledged {
		return nil, fmt.Errorf("%w: %s/%d at %d: another record is there, although the event at %d says that an event there was acknowledged",
			ErrCorrupt, topic, partition, r.Hole, offset)
	}
	return nil, nil
}

// breaks notes that there is no event of the owner at offset.
func (r *EventReader) breaks(offset int64) {
	if r.Hole == 0 {
		r.Hole = offset
	}
}
