package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// epoch is the true time at which every run begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// agenda is what is to happen, in order of time. It is the only thing that
// runs: one event after another, in one goroutine.
type agenda struct {
	now    time.Duration // true time since epoch
	events events
	serial uint64
	rng    *rand.Rand
}

type event struct {
	at     time.Duration
	serial uint64 // order of what happens at the same time
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].serial < e[j].serial
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1].do = nil
	*e = old[:len(old)-1]
	return last
}

// at does something at a time, now if that has passed.
func (a *agenda) at(when time.Duration, do func()) {
	a.serial++
	heap.Push(&a.events, event{max(when, a.now), a.serial, do})
}

// after does something later.
func (a *agenda) after(d time.Duration, do func()) { a.at(a.now+d, do) }

// step does what comes next; false: nothing does.
func (a *agenda) step() bool {
	if len(a.events) == 0 {
		return false
	}
	next := heap.Pop(&a.events).(event)
	a.now = next.at
	next.do()
	return true
}

// between draws a duration.
func (a *agenda) between(low, high time.Duration) time.Duration {
	return low + time.Duration(a.rng.Int64N(int64(high-low)+1))
}

// latency draws how long a message takes: mostly a few milliseconds, seldom
// much longer, so that orders vary.
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
