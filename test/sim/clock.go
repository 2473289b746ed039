package sim

import (
	"cmp"
	"math"
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
	// fixed events happen at their time, whatever the machines do.
	fixed bool
}

// at calls do at a time; now, if that has passed.
func (a *agenda) at(when time.Duration, do func()) { a.add(event{at: when, do: do}) }

func (a *agenda) add(e event) {
	e.at = max(e.at, a.now)
	behind := sort.Search(len(a.events), func(i int) bool { return a.events[i].at > e.at })
	a.events = slices.Insert(a.events, behind, e)
}

// fixedAt is at for what leaps do not put off.
func (a *agenda) fixedAt(when time.Duration, do func()) {
	a.add(event{at: when, do: do, fixed: true})
}

// putOff puts all events off but fixed ones.
func (a *agenda) putOff(by time.Duration) {
	for i := range a.events {
		if !a.events[i].fixed {
			a.events[i].at += by
		}
	}
	slices.SortStableFunc(a.events, func(x, y event) int { return cmp.Compare(x.at, y.at) })
}

// nextFixed is when the next fixed event happens, far away if there is none.
func (a *agenda) nextFixed() time.Duration {
	i := slices.IndexFunc(a.events, func(e event) bool { return e.fixed })
	if i < 0 {
		return math.MaxInt64
	}
	return a.events[i].at
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
