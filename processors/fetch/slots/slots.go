// Package slots bounds what is done at once, such that work that hangs does not delay
// other work. Requests to servers and look-ups of names have slots each.
package slots

import (
	"context"
	"sync"
	"time"
)

// Slots bound the work that is open. Work that is open for longer than the patience
// leaves its slot to others and takes a place among the hanging work, which has a bound
// too. A server that does not answer costs a connection and little else, and many such
// servers must not delay those that answer. When there is no place for hanging work, it
// keeps its slot and tries again later. Slots are safe for concurrent use.
type Slots struct {
	patience time.Duration
	ready    chan struct{} // as many as are open and may be quick
	hanging  chan struct{} // as many as are open and are not
}

// New returns n slots, at least one, and places for so much hanging work.
func New(n, hanging int, patience time.Duration) *Slots {
	return &Slots{patience: patience, ready: make(chan struct{}, n), hanging: make(chan struct{}, hanging)}
}

// Open is how much work has a slot or hangs.
func (s *Slots) Open() int { return len(s.ready) + len(s.hanging) }

// Use takes a slot, does work in it, and gives it back: at the end, or when the
// work has taken longer than the patience. It returns false when ctx ends before there
// is a slot.
func (s *Slots) Use(ctx context.Context, work func()) bool {
	select {
	case s.ready <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	w := held{slots: s}
	w.mu.Lock()
	w.timer = time.AfterFunc(s.patience, w.hang)
	w.mu.Unlock()
	defer w.end()
	work()
	return true
}

// held is work that is in a slot, or hangs, or is over.
type held struct {
	slots *Slots
	timer *time.Timer

	mu          sync.Mutex
	hangs, over bool
}

// hang moves the work from its slot to the hanging ones, if there is a place.
func (w *held) hang() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	select {
	case w.slots.hanging <- struct{}{}:
		w.hangs = true
		<-w.slots.ready
	default:
		w.timer.Reset(w.slots.patience)
	}
}

func (w *held) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
	if w.hangs {
		<-w.slots.hanging
	} else {
		<-w.slots.ready
	}
}
