package stage

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Lane is where a worker does what takes long, so that its other records do not wait. Records in
// a lane count for the Limit of the worker, and are committed in order as all others.
type Lane struct {
	slow  func(r *kgo.Record) bool
	slots chan struct{}
	tasks sync.WaitGroup
}

// NewLane returns a lane for the records for which slow is true. It works on at most so many
// records at a time, each in a goroutine of its own.
func NewLane(most int, slow func(r *kgo.Record) bool) *Lane {
	return &Lane{slow: slow, slots: make(chan struct{}, most)}
}

// begin begins a task. When ending ends, a record that waits for its turn fails, and is read again
// in the next life of the stage.
func (l *Lane) begin(ctx, ending context.Context, t *Task) {
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
