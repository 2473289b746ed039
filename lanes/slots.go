package lanes

import (
	"context"
	"sync"
	"time"
)

// slots bound the open requests. A request that is open for longer than
// patience leaves its slot to others and takes a place among those that hang,
// of which there is a bound too: a server that keeps us waiting costs a
// connection and little else, and many of them must not hold up those that
// answer. When there is no such place it keeps its slot, and asks again.
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

// take takes a slot, or returns false when ctx ends first.
func (s *slots) take(ctx context.Context) bool {
	select {
	case s.ready <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// give gives back a slot that was taken and not held.
func (s *slots) give() { <-s.ready }

// hold does work in a slot that was taken, and gives it back: at the end, or
// when the work has taken longer than there is patience.
func (s *slots) hold(work func()) {
	h := holding{slots: s}
	h.mu.Lock()
	h.timer = time.AfterFunc(s.patience, h.leave)
	h.mu.Unlock()
	defer h.end()
	work()
}

// holding is one request that is open: in a slot, hanging, or over.
type holding struct {
	slots *slots
	timer *time.Timer

	mu          sync.Mutex
	hangs, over bool
}

func (h *holding) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	select {
	case h.slots.hanging <- struct{}{}:
		h.hangs = true
		<-h.slots.ready
	default:
		h.timer.Reset(h.slots.patience)
	}
}

func (h *holding) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.timer.Stop()
	if h.hangs {
		<-h.slots.hanging
	} else {
		<-h.slots.ready
	}
}
