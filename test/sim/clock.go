package sim

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// epoch is the true time at which every run begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// agenda is the events to come. Nothing else runs: one event after another, in one
// goroutine.
type agenda struct {
	now    time.Duration // true time since epoch
	events []event       // in order of time, and of their arrival at the same time
	rng    *rand.Rand
}

type event struct {
	at time.Duration
	do func()
}

// at calls do at a time; now, if that has passed.
func (a *agenda) at(when time.Duration, do func()) {
	when = max(when, a.now)
	behind := sort.Search(len(a.events), func(i int) bool { return a.events[i].at > when })
	a.events = slices.Insert(a.events, behind, event{when, do})
}

// after calls do later.
func (a *agenda) after(d time.Duration, do func()) { a.at(a.now+d, do) }

// step runs the next event. It returns false if there is none.
func (a *agenda) step() bool {
	if len(a.events) == 0 {
		return false
	}
	next := a.events[0]
	a.events = a.events[1:]
	a.now = next.at
	next.do()
	return true
}

// between draws a duration.
func (a *agenda) between(low, high time.Duration) time.Duration {
	return low + time.Duration(a.rng.Int64N(int64(high-low)+1))
}

// latency draws how long a message takes: a few milliseconds, but sometimes much
// longer, so that the order of messages varies.
func (a *agenda) latency() time.Duration {
	switch n := a.rng.IntN(100); {
	case n < 90:
		return a.between(200*time.Microsecond, 5*time.Millisecond)
	case n < 99:
		return a.between(5*time.Millisecond, 80*time.Millisecond)
	}
	return a.between(80*time.Millisecond, 700*time.Millisecond)
}

// chance is true once in n times.
func (a *agenda) chance(n int) bool { return n > 0 && a.rng.IntN(n) == 0 }
