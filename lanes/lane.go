package lanes

import (
	"context"
	"time"
)

// Lane decides what the queue of one domain does next. It is pure: it is told
// the time, and that of a request's end. Lanes runs many of them with a
// goroutine each; the simulation (package sim) steps through them.
//
// The zero value has no visits and may ask at once. A Lane is not safe for
// concurrent use.
type Lane struct {
	waiting []errand
	current *errand
	next    int // request of the current visit to be looked at next
	rest    int // requests of the current visit from here on were not begun
	stopped bool

	notBefore time.Time
}

// errand is a visit, dropped when its context ends.
type errand struct {
	ctx   context.Context
	visit *Visit
}

// Kind of a step.
type Kind int

// What a lane does next.
const (
	// Over: there is nothing to do, and the delay has passed.
	Over Kind = iota
	// Idle: there is nothing to do, but the lane lives until the time Until.
	Idle
	// Wait for Until, or the end of Context.
	Wait
	// Ask for request Index of Visit; then Made, or Drop.
	Ask
	// Finish Visit, of which requests from Index on were not begun; then Drop.
	Finish
)

// Step is what a lane does next.
type Step struct {
	Kind    Kind
	Until   time.Time
	Visit   *Visit
	Context context.Context // of the visit
	Index   int
}

// Add queues a visit.
func (l *Lane) Add(ctx context.Context, v *Visit) { l.waiting = append(l.waiting, errand{ctx, v}) }

// Len is the number of visits that wait for others.
func (l *Lane) Len() int { return len(l.waiting) }

// Next says what to do at now. Asked again without anything done in between, it
// says the same until the time comes or a request is settled late.
func (l *Lane) Next(now time.Time) Step {
	for {
		if l.current == nil && !l.pick() {
			if l.notBefore.After(now) {
				return Step{Kind: Idle, Until: l.notBefore}
			}
			return Step{Kind: Over}
		}
		e := l.current
		if e.ctx.Err() != nil {
			l.Drop()
			continue
		}
		for !l.stopped && l.next < len(e.visit.Requests) && e.visit.settled(l.next) {
			l.next++
			l.rest = l.next
		}
		step := Step{Visit: e.visit, Context: e.ctx, Index: l.next}
		switch {
		case l.stopped || l.next == len(e.visit.Requests):
			step.Kind, step.Index = Finish, l.rest
		case l.notBefore.After(now):
			step.Kind, step.Until = Wait, l.notBefore
		default:
			step.Kind = Ask
		}
		return step
	}
}

// pick takes up the next visit.
func (l *Lane) pick() bool {
	if len(l.waiting) == 0 {
		return false
	}
	e := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.current, l.next, l.rest, l.stopped = &e, 0, 0, false
	if e.visit.NotBefore.After(l.notBefore) {
		l.notBefore = e.visit.NotBefore
	}
	return true
}

// Made books that the request that was asked for is over at now. stretch is the
// part by which the delay is made longer.
func (l *Lane) Made(now time.Time, answer Answer, stretch float64) {
	delay := time.Duration(l.current.visit.DelayMs) * time.Millisecond
	delay += time.Duration(stretch * float64(delay))
	l.notBefore = now.Add(max(delay, answer.RetryAfter))
	l.next++
	l.rest = l.next
	l.stopped = answer.Stop
}

// Drop is done with the current visit.
func (l *Lane) Drop() { l.current = nil }
