package stage

import (
	"context"
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Handler works on one task. It ends the task once, by Finish or by Fail, and may
// do that later and from any goroutine. The context ends when the stage has no
// time left.
type Handler func(ctx context.Context, t *Task)

// Transform is the decision of a stateless stage about one record: what is to be
// written, or the reason why the record cannot be used. But for what it counts
// it is a function of the record, and safe for concurrent use.
type Transform func(r *kgo.Record) (out []Output, reason string)

// Handle is the Handler of a stage that only transforms.
func (f Transform) Handle(ctx context.Context, t *Task) {
	out, reason := f(t.Record)
	t.Finish(ctx, out, reason)
}

// Task is one record on its way through a worker. The worker commits the record
// when the task and the tasks of all older records of its partition have ended.
type Task struct {
	// Record is what the stage decides on: the record that was read, with its
	// body.
	Record *kgo.Record

	worker   *worker
	read     *kgo.Record // as it was read: WithBody replaces Record
	bytes    int64       // of the value that was read
	slow     bool        // it is worked on in the lane
	progress *Progress   // of the record's partition
	used     func()      // called when the output is acknowledged; nil: nothing is

	mu       sync.Mutex
	answered bool  // Finish or Fail was called
	rejected bool  // what is written is the record itself, to rejected
	left     int   // acknowledgements that are missing
	err      error // the first of the acknowledgements
}

// Finish ends the task when all of out is acknowledged. With a reason the record
// is rejected instead.
func (t *Task) Finish(ctx context.Context, out []Output, reason string) {
	if reason != "" {
		t.reject(ctx, reason)
		return
	}
	t.mu.Lock()
	t.answered, t.left = true, 1+len(out) // the task does not end before all is sent
	t.mu.Unlock()
	for _, o := range out {
		then := t.acknowledge
		if o.Acknowledged != nil {
			then = func(r *kgo.Record, err error) { o.Acknowledged(r, err); t.acknowledge(r, err) }
		}
		t.worker.out.Send(ctx, o, then)
	}
	t.acknowledge(nil, nil)
}

// Fail ends the stage, which begins again at the commit.
func (t *Task) Fail(err error) {
	t.answer()
	t.acknowledge(nil, err)
}

// reject ends the task when the record that was read is in rejected.
func (t *Task) reject(ctx context.Context, reason string) {
	t.rejected = true
	t.answer()
	t.worker.out.reject(ctx, t.read, reason, t.acknowledge)
}

// answer makes the task wait for one acknowledgement.
func (t *Task) answer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered, t.left, t.err = true, 1, nil
}

func (t *Task) isAnswered() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answered
}

// acknowledge ends the task with the last acknowledgement. An output that is
// larger than its topic takes is not smaller in the stage's next life: the record
// is rejected.
func (t *Task) acknowledge(_ *kgo.Record, err error) {
	t.mu.Lock()
	if t.err == nil {
		t.err = err
	}
	t.left--
	left, err := t.left, t.err
	t.mu.Unlock()
	switch {
	case left > 0:
		return
	case errors.Is(err, kerr.MessageTooLarge) && !t.rejected:
		// Not from within the acknowledgement, which may hold the last room of
		// the producer's buffer. The producer's end ends it.
		go t.reject(context.Background(), reasonTooLarge)
		return
	case err == nil && !t.rejected && t.used != nil:
		t.used()
	}
	t.worker.finish(t, err)
}

// reasonTooLarge is the reason of a record whose output its topic does not take.
const reasonTooLarge = "output_too_large"

// recovered is deferred where a Handler is called. It rejects a record on which the Handler
// panics. A panic after the answer ends the process: the output may be written in part.
func (t *Task) recovered(ctx context.Context) {
	cause := recover()
	switch {
	case cause == nil:
	case t.isAnswered():
		panic(cause)
	default:
		t.worker.out.logPanic(cause, t.read)
		t.reject(ctx, ReasonPanic)
	}
}
