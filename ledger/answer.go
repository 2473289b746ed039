package ledger

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Answer decides about a record of an input and returns the event to append, or nil. A
// *Rejection says that the stage cannot use the record: write it to the topic rejected, then
// call Rejected.
func (p *Partition) Answer(in InputRecord, now time.Time) ([]byte, error) {
	if !p.live {
		return nil, errNotLive
	}
	p.lastInput = now
	at, known := p.position(in.Topic)
	if known && in.Offset <= at.Offset {
		p.opts.Observe(IncidentRedelivery)
		return nil, nil
	}
	next := Position{Offset: in.Offset, Epoch: at.Epoch, Hole: at.Hole, TimestampMS: in.TimestampMS}
	if p.proc.isLedger(in.Topic) {
		upstream := EventReader{Epoch: at.Epoch, Hole: at.Hole}
		ev, err := upstream.Read(in.Value, in.Topic, p.number, in.Offset)
		if err != nil {
			return nil, err
		}
		next.Epoch, next.Hole = upstream.Epoch, upstream.Hole
		if upstream.Strangers > 0 {
			p.passOver(in.Topic, in.Offset)
		}
		if ev == nil || len(ev.Body) == 0 {
			p.moved[in.Topic] = next
			return nil, nil
		}
		in.Value = ev.Body
	}
	body, err := p.decide(in, now)
	if err != nil {
		return nil, err
	}
	p.moved[in.Topic] = next
	if body == nil {
		return nil, nil
	}
	return p.event(body), nil
}

// decide calls the stage's decision. A panic rejects the record.
func (p *Partition) decide(in InputRecord, now time.Time) (body []byte, err error) {
	defer p.recovered(&err, func(any) error { return &Rejection{Reason: ReasonPanic} }, in.Topic, in.Offset)
	return p.state.Decide(in, now, p.folded+1)
}

// Rejected books that the unusable record at offset of topic was rejected.
func (p *Partition) Rejected(topic string, offset int64) {
	at, _ := p.position(topic)
	p.moved[topic] = Position{Offset: offset, Epoch: at.Epoch, Hole: at.Hole}
}

// Due returns the keys that Tick has something to do for: those whose time has
// come, and carryKey when moved positions have waited long enough or the claim
// is still the last event. Nothing is due before the partition has caught up.
func (p *Partition) Due(now time.Time) []string {
	if !p.live || !p.caughtUp() {
		return nil
	}
	keys := p.state.Due(now, maxDue)
	if p.lastEvent.IsZero() || len(p.moved) > 0 &&
		(now.Sub(p.lastEvent) >= p.opts.CarryEvery || now.Sub(p.lastInput) >= p.opts.CarryIdle) {
		keys = append(keys, carryKey)
	}
	return keys
}

const (
	// maxDue bounds the ticks that are under way at a time.
	maxDue = 512
	// carryKey stands for the partition itself. No domain has an empty name.
	carryKey = ""
)

// CatchUp lets nothing be due until the inputs are read up to these ends. A
// report that was written while the partition was not read must not count as
// late.
func (p *Partition) CatchUp(ends map[string]int64) { p.catchingUp = maps.Clone(ends) }

func (p *Partition) caughtUp() bool {
	maps.DeleteFunc(p.catchingUp, func(topic string, end int64) bool {
		at, known := p.position(topic)
		return known && at.Offset >= end-1
	})
	return len(p.catchingUp) == 0
}

// Tick decides on a key that Due returned.
func (p *Partition) Tick(key string, now time.Time) ([]byte, error) {
	if !p.live {
		return nil, errNotLive
	}
	body, err := p.tick(key, now)
	if err != nil {
		return nil, err
	}
	if body == nil && key != carryKey {
		return nil, nil
	}
	return p.event(body), nil
}

// tick calls the stage's decision on a key that is due. A panic is fatal.
func (p *Partition) tick(key string, now time.Time) (body []byte, err error) {
	what := "timer of " + key
	if key == carryKey {
		what = "snapshot"
	}
	defer p.recovered(&err, func(cause any) error {
		return fmt.Errorf("%w: %s: %w: %v", ErrCorrupt, what, ErrPanic, cause)
	}, "", 0)
	if key == carryKey {
		return p.state.Snapshot(now, p.folded+1)
	}
	return p.state.Tick(key, now, p.folded+1)
}

// errNotLive stops a partition whose claim was interrupted: what it decided
// would name no claim that holds.
var errNotLive = errors.New("the partition is not claimed")

// event frames body as the next event, carrying the positions that moved.
func (p *Partition) event(body []byte) []byte {
	ev := &weftpb.Event{
		Epoch: p.reader.Epoch, Offset: p.folded + 1, Body: body,
		Unacknowledged: p.folded - p.acked, Strangers: p.strangers,
	}
	p.made, p.carried = body, nil
	for _, in := range p.proc.Inputs {
		if at, ok := p.moved[in.Topic]; ok {
			p.carried = append(p.carried, at.record(in.Topic))
		}
	}
	ev.Positions = p.carried
	return encode(ev)
}

// Acknowledged says up to which offset the partition's events are acknowledged.
// The events that it makes say so in turn.
func (p *Partition) Acknowledged(offset int64) { p.acked = max(p.acked, offset) }

// Carried are the positions in the event that was made last. They may be committed
// once that event is acknowledged.
func (p *Partition) Carried() []*weftpb.Position { return p.carried }

// position is how far an input is folded.
func (p *Partition) position(topic string) (at Position, known bool) {
	if at, known = p.moved[topic]; !known {
		at, known = p.positions[topic]
	}
	return at, known
}

// FoldNext folds the event that was made last, and that is about to be appended as raw.
func (p *Partition) FoldNext(key string, raw []byte, now time.Time) error {
	offset := p.folded + 1
	if err := p.apply(key, p.made, offset); err != nil {
		return err
	}
	p.folded, p.record = offset, checksum(raw)
	p.lastEvent = now
	maps.Copy(p.positions, p.moved)
	clear(p.moved)
	return nil
}

// apply folds the body of an event. A panic of the fold is fatal: the state that
// it leaves is not known.
func (p *Partition) apply(key string, body []byte, offset int64) (err error) {
	if len(body) == 0 {
		return nil
	}
	defer p.recovered(&err, func(cause any) error {
		return fmt.Errorf("%w: %s/%d at %d: %w: %v", ErrCorrupt, p.proc.Ledger, p.number, offset, ErrPanic, cause)
	}, "", 0)
	if err := p.state.Apply(key, body, offset); err != nil {
		return fmt.Errorf("%w: %s/%d at %d: %w", ErrCorrupt, p.proc.Ledger, p.number, offset, err)
	}
	return nil
}

// ReasonPanic is the reason of a record on which a stage's code panicked. The
// record is rejected, and the stage goes on. A program without the bug takes it
// from rejected again.
const ReasonPanic = "panic"

// ErrPanic marks a panic where there is no record to reject: in a fold, a timer
// or a snapshot. It is fatal.
var ErrPanic = errors.New("panicked")

// recovered is deferred where code of the stage is called. It is the one place where a
// partition recovers from panics: panicked makes an error of the cause. topic and offset
// are the record's whose decision panicked; an empty topic: there is none.
//
// An error of the store comes before any other: reads found nothing after it,
// and the code is not to blame.
func (p *Partition) recovered(err *error, panicked func(cause any) error, topic string, offset int64) {
	if p.opts.Panicked != nil {
		if cause := recover(); cause != nil {
			p.opts.Panicked(cause, topic, offset)
			*err = panicked(cause)
		}
	}
	if broken := p.store.Err(); broken != nil {
		*err = broken
	}
}
