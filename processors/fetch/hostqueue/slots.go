package hostqueue

import (
	"context"
	"sync"
	"time"
)

// slots bound the open requests. A request that is open for longer than patience
// leaves its slot to others and takes a place among the hanging requests, which
// have a bound too. A server that does not answer costs a connection and little
// else, and many such servers must not delay those that answer. When there is no
// place for a hanging request, it keeps its slot and tries again later.
type slots struct {
	patience time.Duration
	ready    chan struct{} // as many as are open and may be quick
	hanging  chan struct{} // as many as are open and are not
}

func newSlots(o Options) *slots {
	return &slots{patience: o.Patience, ready: make(chan struct{}, o.Slots), hanging: make(chan struct{}, o.Hanging)}
}

// open is the number of requests that have a slot or hang.
func (s *slots) open() int { return len(s.ready) + len(s.hanging) }

// use takes a slot, does work in it, and gives it back: at the end, or when the
// work has taken longer than patience. It returns false when ctx ends before there
// is a slot.
func (s *slots) use(ctx context.Context, work func()) bool {
	select {
	case s.ready <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	r := openRequest{slots: s}
	r.mu.Lock()
	r.timer = time.AfterFunc(s.patience, r.hang)
	r.mu.Unlock()
	defer r.end()
	work()
	return true
}

// openRequest is in a slot, or hangs, or is over.
type openRequest struct {
	slots *slots
	timer *time.Timer

	mu          sync.Mutex
	hangs, over bool
}

// hang moves the request from its slot to the hanging ones, if there is a place.
func (r *openRequest) hang() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	select {
	case r.slots.hanging <- struct{}{}:
		r.hangs = true
		<-r.slots.ready
	default:
		r.timer.Reset(r.slots.patience)
	}
}

func (r *openRequest) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.timer.Stop()
	if r.hangs {
		<-r.slots.hanging
	} else {
		<-r.slots.ready
	}
}
