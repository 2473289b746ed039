package ledger

import (
	"errors"
	"time"
)

// Answer decides on a record of an input and returns the event to append, nil
// for none. A *Rejection says that the record is unusable: once it is written
// to rejected, call Rejected.
func (p *Partition) Answer(rec Record, now time.Time) ([]byte, error) {
	if !p.live {
		return nil, errNotLive
	}
	in := p.def.input(rec.Topic)
	p.lastInput = now
	at, known := p.position(rec.Topic)
	if known && rec.Offset <= at.Offset {
		p.opts.Observe(HappenedRedelivery)
		return nil, nil
	}
	next := Position{Offset: rec.Offset, Epoch: at.Epoch, Hole: at.Hole, TimestampMS: rec.TimestampMS}
	if in.events {
		upstream := Reader{Epoch: at.Epoch, Hole: at.Hole}
		ev, err := upstream.Read(rec.Value, rec.Topic, p.number, rec.Offset)
		if err != nil {
			return nil, err
		}
		next.Epoch, next.Hole = upstream.Epoch, upstream.Hole
		if upstream.Strangers > 0 {
			p.passOver(rec.Topic, rec.Offset)
		}
		if ev == nil || len(ev.Body) == 0 {
			p.move(rec.Topic, next)
			return nil, nil
		}
		rec.Value = ev.Body
	}
	body, err := in.decide(p.state, rec, now, p.folded+1)
	if err = p.verdict(err); err != nil {
		return nil, err
	}
	p.move(rec.Topic, next)
	if body == nil {
		return nil, nil
	}
	return p.event(body), nil
}

// Rejected books that the unusable record at offset of topic is dealt with.
func (p *Partition) Rejected(topic string, offset int64) {
	at, _ := p.position(topic)
	p.move(topic, Position{Offset: offset, Epoch: at.Epoch, Hole: at.Hole})
}

// Due returns the keys that Tick has something to do for: those whose time has
// come, and carryKey when moved positions have waited long enough or the claim
// is still the last event. Before it has caught up nothing is due.
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
	// carryKey stands for the partition itself; no domain is empty.
	carryKey = ""
)

// Tick decides on a key that Due returned.
func (p *Partition) Tick(key string, now time.Time) ([]byte, error) {
	if !p.live {
		return nil, errNotLive
	}
	var body []byte
	var err error
	switch {
	case key != carryKey:
		body, err = p.def.tick(p.state, key, now, p.folded+1)
	case p.def.snapshot != nil:
		body, err = p.def.snapshot(p.state, now, p.folded+1)
	}
	if err = p.verdict(err); err != nil {
		return nil, err
	}
	if body == nil && key != carryKey {
		return nil, nil
	}
	return p.event(body), nil
}

// verdict returns what stops the partition after a decision: first a store
// whose reads found nothing, then the decision's own error.
func (p *Partition) verdict(err error) error {
	if broken := p.store.Err(); broken != nil {
		return broken
	}
	return err
}

// errNotLive stops a partition whose claim was interrupted: what it decided
// would name no claim that holds.
var errNotLive = errors.New("the partition is not claimed")
