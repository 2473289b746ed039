package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"

	"github.com/weftcrawl/weft/internal/supervise"
)

// take is goka's callback: it answers one message, which is a record of an input
// topic or a tick. An error stops the partition.
func (t *table) take(ctx goka.Context, msg any) {
	value, _ := msg.([]byte)
	in := InputRecord{
		Topic: string(ctx.Topic()), Key: ctx.Key(), Value: value, Offset: ctx.Offset(), TimestampMS: ctx.Timestamp().UnixMilli(),
	}
	if in.Offset == tickOffset {
		defer t.ticking.Add(-1)
	}
	event, err := t.decide(in)
	if rejected := (*Rejection)(nil); errors.As(err, &rejected) {
		err = t.reject(in, rejected)
	}
	if err != nil {
		t.writer.Poison(err)
		ctx.Fail(err)
		return
	}
	if event != nil {
		ctx.SetValue(event) // which calls EmitWithHeaders
		t.observe(IncidentEvent)
	}
	if err := t.maybeSave(); err != nil {
		ctx.Fail(err)
	}
}

// decide decides about a message and folds the resulting event. It returns the event to append,
// nil when there is none.
func (t *table) decide(in InputRecord) (event []byte, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.Acknowledged(t.writer.Acked())
	if in.Offset == tickOffset {
		event, err = t.Tick(in.Key, now)
	} else {
		event, err = t.Answer(in, now)
	}
	if err == nil && event != nil {
		err = t.FoldNext(in.Key, event, now)
	}
	if err != nil {
		return nil, t.judge(err)
	}
	return event, nil
}

func (t *table) reject(in InputRecord, why *Rejection) error {
	t.observe(IncidentRejected)
	if err := t.run.opts.Reject(in, t.partition, why.Reason); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Rejected(in.Topic, in.Offset)
	return nil
}

// panicked logs a panic of the stage's code; see PartitionOptions.Panicked.
func (t *table) panicked(cause any, topic string, offset int64) {
	if topic == "" {
		t.run.log.Error("a ledger made its stage panic", "panic", fmt.Sprint(cause), "stack", supervise.StackTop(), "partition", t.partition)
		return
	}
	t.run.log.Error("a record made its stage panic", "panic", fmt.Sprint(cause), "stack", supervise.StackTop(),
		"topic", topic, "partition", t.partition, "offset", offset)
}

// producer is the goka.Producer of a partition's processor.
type producer struct {
	goka.Producer // every event comes from SetValue: Emit is not called
	*table
}

// EmitWithHeaders appends the event that was decided and folded, and resolves
// goka's promise. When the event is acknowledged, the positions that it carries
// are committed. goka's goroutine of the partition calls it, from SetValue.
func (p producer) EmitWithHeaders(_, key string, event []byte, _ goka.Headers) *goka.Promise {
	promise, finish := goka.NewPromiseWithFinisher()
	carried := p.Carried()
	p.writer.Append(key, event, func(offset int64, err error) {
		if err != nil {
			finish(nil, err)
			return
		}
		for _, at := range carried {
			p.member.commits.mark(at.Topic, p.partition, at.Offset+1)
		}
		finish(&sarama.ProducerMessage{Offset: offset}, nil)
	})
	return promise
}

// Close leaves the writer to its table.
func (p producer) Close() error { return nil }
