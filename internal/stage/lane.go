package stage

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Lane is where a worker does what takes long, so that its other records do not wait. Records in
// a lane count for Limit.Records of the worker, but have bytes of their own: else a few of them
// would be all that the worker may begin. They are committed in order as all others.
type Lane struct {
	bytes int64
	slow  func(r *kgo.Record) bool
	slots chan struct{}
	tasks sync.WaitGroup
}

// NewLane returns a lane for the records for which slow is true. It works on at most so many
// records at a time, each in a goroutine of its own. The values of its records have at most so many
// bytes.
func NewLane(most int, bytes int64, slow func(r *kgo.Record) bool) *Lane {
	return &Lane{bytes: bytes, slow: slow, slots: make(chan struct{}, most)}
}

// takes tells whether a record is slow. A record that makes slow panic is not: the Handler, which
// looks at it in the same way, panics as well, and the record is set aside.
func (l *Lane) takes(r *kgo.Record) (slow bool) {
	if l == nil {
		return false
	}
	defer func() { _ = recover() }()
	return l.slow(r)
}

// detach copies the bytes of a record that may wait long, so that it does not keep all that the
// broker sent with it.
func detach(r *kgo.Record) {
	r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	for i, h := range r.Headers {
		r.Headers[i] = kgo.RecordHeader{Key: strings.Clone(h.Key), Value: bytes.Clone(h.Value)}
	}
}

// begin begins a task. When ending ends, a record that waits for its turn fails, and is read again
// in the next life of the stage.
func (l *Lane) begin(ctx, ending context.Context, t *Task) {
	detach(t.read)
	l.tasks.Go(func() {
		defer t.recovered(ctx)
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ending.Done():
			t.Fail(ending.Err())
			return
		case <-ctx.Done():
			t.Fail(ctx.Err())
			return
		}
		if ending.Err() != nil {
			t.Fail(ending.Err())
			return
		}
		t.worker.Handler(ctx, t)
	})
}

// Wait waits for all records of the lane.
func (l *Lane) Wait() { l.tasks.Wait() }
