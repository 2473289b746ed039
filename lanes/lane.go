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
	silence   *silence // shared with the domain's other lanes; nil: never asked for
}

// silence is what a domain asked for with Retry-After, of all its lanes.
type silence struct{ until time.Time }

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

// Join makes l another lane of the domain of other: what a server asks of one is
// asked of both.
func (l *Lane) Join(other *Lane) { l.silence = other.shared() }

func (l *Lane) shared() *silence {
	if l.silence == nil {
		l.silence = new(silence)
	}
	return l.silence
}

// free is the earliest start of a request.
func (l *Lane) free() time.Time {
	if l.silence != nil && l.silence.until.After(l.notBefore) {
		return l.silence.until
	}
	return l.notBefore
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
			if free := l.free(); free.After(now) {
				return Step{Kind: Idle, Until: free}
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
		switch free := l.free(); {
		case l.stopped || l.next == len(e.visit.Requests):
			step.Kind, step.Index = Finish, l.rest
		case free.After(now):
			step.Kind, step.Until = Wait, free
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
	if !answer.Unreached {
		l.notBefore = now.Add(delay)
	}
	if until := now.Add(answer.RetryAfter); answer.RetryAfter > 0 && until.After(l.shared().until) {
		l.silence.until = until
	}
	l.next++
	l.rest = l.next
	l.stopped = answer.Stop
}

// Drop is done with the current visit.
func (l *Lane) Drop() { l.current = nil }
