package ledger

import (
	"errors"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
)

// take answers one message: a record of an input topic, or a tick. An error
// stops the partition.
func (t *table) take(ctx goka.Context, in input, raw []byte) error {
	if ctx.Offset() == tickOffset {
		defer t.ticking.Add(-1)
		event, err := t.answerTick(ctx.Key())
		return t.append(ctx, event, err)
	}
	rec := Record{Topic: in.topic, Key: ctx.Key(), Value: raw, Offset: ctx.Offset()}
	event, err := t.answer(in, rec)
	var rejected *Rejection
	if errors.As(err, &rejected) {
		t.run.opts.Observe(Happening{Kind: HappenedRejected, Partition: t.partition})
		if err = t.run.opts.Reject(rec, t.partition, rejected.Reason); err == nil {
			t.mu.Lock()
			t.move(in.topic, Position{Offset: rec.Offset, Epoch: t.positions[in.topic].Epoch})
			t.mu.Unlock()
		}
	}
	return t.append(ctx, event, err)
}

// answer decides on a record and returns the event to append, nil for none.
func (t *table) answer(in input, rec Record) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.live {
		return nil, errNotLive
	}
	now := t.run.opts.Clock()
	t.lastInput = now
	at, known := t.positions[in.topic]
	if known && rec.Offset <= at.Offset {
		t.run.opts.Observe(Happening{Kind: HappenedRedelivery, Partition: t.partition})
		return nil, nil
	}
	next := Position{Offset: rec.Offset, Epoch: at.Epoch}
	if in.events {
		upstream := Reader{Epoch: at.Epoch}
		ev, err := upstream.Read(rec.Value, in.topic, t.partition, rec.Offset)
		if err != nil {
			return nil, t.run.fatal(err)
		}
		next.Epoch = upstream.Epoch
		if ev == nil || len(ev.Body) == 0 {
			t.move(in.topic, next)
			return nil, nil
		}
		rec.Value = ev.Body
	}
	body, err := in.decide(t.state, rec, now, t.folded+1)
	if err = t.verdict(err); err != nil {
		return nil, err
	}
	t.move(in.topic, next)
	if body == nil {
		return nil, nil
	}
	return t.event(body), nil
}

// answerTick decides on a key that due returned.
func (t *table) answerTick(key string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.live {
		return nil, errNotLive
	}
	now := t.run.opts.Clock()
	var body []byte
	var err error
	switch {
	case key != carryKey:
		body, err = t.run.tick(t.state, key, now, t.folded+1)
	case t.run.snapshot != nil:
		body, err = t.run.snapshot(t.state, now, t.folded+1)
	}
	if err = t.verdict(err); err != nil {
		return nil, err
	}
	if body == nil && key != carryKey {
		return nil, nil
	}
	return t.event(body), nil
}

// errNotLive stops a partition whose claim was interrupted: what it decided
// would name no claim that holds.
var errNotLive = errors.New("the partition is not claimed")

// verdict returns what stops the partition after a decision: first a store
// whose reads found nothing, then the decision's own error.
func (t *table) verdict(err error) error {
	if broken := t.store.Err(); broken != nil {
		return broken
	}
	if errors.Is(err, ErrCorrupt) {
		return t.run.fatal(err)
	}
	return err
}

// append writes the event with goka's one SetValue, and saves the state when
// its time has come.
func (t *table) append(ctx goka.Context, event []byte, err error) error {
	if err != nil {
		t.writer.Poison(err)
		return err
	}
	if event != nil {
		ctx.SetValue(event, goka.WithCtxEmitHeaders(t.run.route(t.partition)))
		t.run.opts.Observe(Happening{Kind: HappenedEvent, Partition: t.partition})
	}
	if err := t.writer.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.maybeSave(t.run.opts.Clock())
}

// commits is the part of sarama's session that acknowledged events commit to.
type commits interface {
	MarkOffset(topic string, partition int32, offset int64, metadata string)
}

// emit appends the event that Set folded and resolves goka's promise. Emits of
// one partition come from its one goroutine.
func (t *table) emit(key string, value []byte) *goka.Promise {
	promise, finish := goka.NewPromiseWithFinisher()
	carried, session := t.carried, t.session
	t.writer.Append(key, value, func(offset int64, err error) {
		if err != nil {
			finish(nil, err)
			return
		}
		for _, p := range carried {
			session.MarkOffset(p.Topic, t.partition, p.Offset+1, "")
		}
		finish(&sarama.ProducerMessage{Offset: offset}, nil)
	})
	return promise
}

// router is the goka.Producer of a runner: it finds the partition's writer.
type router struct{ run *runner }

// partitionHeader names the partition of an event on its way from SetValue to
// the writer; it is not written.
const partitionHeader = "partition"

// EmitWithHeaders appends an event to the partition that the headers name.
func (r router) EmitWithHeaders(_, key string, value []byte, headers goka.Headers) *goka.Promise {
	return r.run.table(partitionOf(headers)).emit(key, value)
}

// Emit is never called: every event comes from SetValue with its partition.
func (r router) Emit(topic, _ string, _ []byte) *goka.Promise {
	panic("ledger: emit to " + topic + " without a partition")
}

// Close leaves the writers to their tables.
func (r router) Close() error { return nil }
