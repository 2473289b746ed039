// Package slots limits the work that is done at a time. Work that hangs does not delay other
// work. Requests to servers have slots, and look-ups of names have slots of their own.
//
// When slots are scarce, work waits for them in a line for each priority. The lines are served
// by the weights 8:4:2:1 (politeness.Serve), each in the order in which its work came: so
// urgent work goes first, and no work waits for ever. A slot that is given back goes straight
// to the work whose turn it is.
package slots

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/politeness"
)

// Slots bound the work that is open. Work that is open for longer than the patience
// leaves its slot to others and takes a place among the hanging work, which has a bound
// too. A server that does not answer costs a connection and little else, and many such
// servers must not delay those that answer. When there is no place for hanging work, it
// keeps its slot and tries again later. Slots are safe for concurrent use.
type Slots struct {
	patience time.Duration

	mu      sync.Mutex
	free    int                              // none if work waits
	places  int                              // that are left for hanging work
	open    int                              // in slots and in places
	waiting [politeness.Priorities]list.List // of chan struct{}, closed when it has a slot
	turn    uint32
}

// New returns n slots, at least one, and places for so much hanging work.
func New(n, hanging int, patience time.Duration) *Slots {
	return &Slots{patience: patience, free: n, places: hanging}
}

// Open returns the number of pieces of work that have a slot or hang.
func (s *Slots) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Use takes a slot for work of a priority, does it, and gives the slot back. It returns false
// when ctx ends before there is a slot.
func (s *Slots) Use(ctx context.Context, priority int, work func()) bool {
	end := s.Take(ctx, priority)
	if end == nil {
		return false
	}
	defer end()
	work()
	return true
}

// Take takes a slot for work of a priority. The caller calls end when the work is over; the
// slot is given back then, or when the work has taken longer than the patience. end is nil when
// ctx ends before there is a slot.
func (s *Slots) Take(ctx context.Context, priority int) (end func()) {
	if ctx.Err() != nil || !s.take(ctx, priority) {
		return nil
	}
	w := held{slots: s}
	s.mu.Lock()
	w.timer = time.AfterFunc(s.patience, w.hang)
	s.mu.Unlock()
	return w.end
}

// take waits for a slot.
func (s *Slots) take(ctx context.Context, priority int) bool {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.open++
		s.mu.Unlock()
		return true
	}
	turn := make(chan struct{})
	place := s.waiting[priority].PushBack(turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return true
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-turn: // its turn came at the same time as the end of ctx
		s.open--
		s.give()
	default:
		s.waiting[priority].Remove(place)
	}
	return false
}

// give gives a slot to the work whose turn it is. The caller holds mu.
func (s *Slots) give() {
	priority, turn, ok := politeness.Serve(s.turn, func(p int) bool { return s.waiting[p].Len() > 0 })
	if !ok {
		s.free++
		return
	}
	s.turn = turn
	line := &s.waiting[priority]
	close(line.Remove(line.Front()).(chan struct{}))
	s.open++
}

// held is work that is in a slot, or hangs, or is over. The mutex of the slots guards it.
type held struct {
	slots       *Slots
	timer       *time.Timer
	hangs, over bool
}

// hang moves the work from its slot to the hanging ones, if there is a place.
func (w *held) hang() {
	s := w.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case w.over:
	case s.places > 0:
		w.hangs = true
		s.places--
		s.give()
	default:
		w.timer.Reset(s.patience)
	}
}

func (w *held) end() {
	s := w.slots
	w.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	w.over = true
	s.open--
	if w.hangs {
		s.places++
	} else {
		s.give()
	}
}
