package stage

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Lane is where a worker does what takes long, so that its other records do not wait. Records in
// a lane count for the Limit of the worker, and are committed in order as all others.
type Lane struct {
	slots chan struct{}
	tasks sync.WaitGroup
}

// NewLane returns a lane that works on at most so many records at a time.
func NewLane(most int) *Lane { return &Lane{slots: make(chan struct{}, most)} }

// Beside is middleware: h gets the records for which slow is true in goroutines of the lane. When
// ending ends, a record that waits for its turn fails, and is read again in the next life of
// the stage.
func (l *Lane) Beside(ending context.Context, slow func(r *kgo.Record) bool, h Handler) Handler {
	h = recovering(h)
	return func(ctx context.Context, t *Task) {
		if !slow(t.Record) {
			h(ctx, t)
			return
		}
		l.tasks.Go(func() {
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
			h(ctx, t)
		})
	}
}

// Wait waits for all records of the lane.
func (l *Lane) Wait() { l.tasks.Wait() }
