package ledger

import (
	"errors"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
)

// take answers one message: a record of an input topic, or a tick. An error
// stops the partition.
func (t *table) take(ctx goka.Context, topic string, raw []byte) error {
	if ctx.Offset() == tickOffset {
		defer t.ticking.Add(-1)
		event, err := t.answerTick(ctx.Key())
		return t.append(ctx, event, err)
	}
	rec := Record{
		Topic: topic, Key: ctx.Key(), Value: raw, Offset: ctx.Offset(), TimestampMS: ctx.Timestamp().UnixMilli(),
	}
	event, err := t.answer(rec)
	var rejected *Rejection
	if errors.As(err, &rejected) {
		t.run.opts.Observe(Happening{Kind: HappenedRejected, Partition: t.partition})
		if err = t.run.opts.Reject(rec, t.partition, rejected.Reason); err == nil {
			t.mu.Lock()
			t.Rejected(topic, rec.Offset)
			t.mu.Unlock()
		}
	}
	return t.append(ctx, event, err)
}

// answer decides on a record and returns the event to append, nil for none.
func (t *table) answer(rec Record) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Acknowledged(t.writer.Acked())
	event, err := t.Answer(rec, t.run.opts.Clock())
	return event, t.judge(err)
}

// answerTick decides on a key that due returned.
func (t *table) answerTick(key string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Acknowledged(t.writer.Acked())
	event, err := t.Tick(key, t.run.opts.Clock())
	return event, t.judge(err)
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
	carried, session := t.Carried(), t.session
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
