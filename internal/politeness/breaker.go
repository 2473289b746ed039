package politeness

import "time"

const (
	// FirstBackoff is the least wait after a failure.
	FirstBackoff = time.Second
	// firstProbe is the wait before the first probe of an open breaker.
	firstProbe = 30 * time.Second
	// MaxBackoff bounds the waits after failures.
	MaxBackoff = time.Hour
)

// Breaker is the memory of the failures of a host, or of an origin. The zero value is
// closed.
//
//	closed ──Failed, the limit in a row──► open ──Failed probe──► open, one more cycle
//	   ▲                                    │
//	   └────────────── Answered ────────────┘
//
// While it is open nothing goes out but one probe at a time, each after Wait.
type Breaker struct {
	// Failures in a row.
	Failures uint32
	// Cycles counts how often it opened since the last answer.
	Cycles uint32
	Open   bool
}

// Answered returns the breaker after a response.
func (b Breaker) Answered() Breaker { return Breaker{} }

// Failed returns the breaker after a failure. The limit is how many in a row
// open it. Only a probe's failure counts as another cycle: the rest of a visit
// that was out when the breaker opened says nothing new.
func (b Breaker) Failed(probe bool, limit uint32) Breaker {
	b.Failures = min(b.Failures, 1<<20) + 1
	switch {
	case !b.Open && b.Failures >= limit:
		b.Open, b.Cycles = true, 1
	case b.Open && probe:
		b.Cycles = min(b.Cycles, 1<<20) + 1
	}
	return b
}

// Wait returns how long after its last failure it is left alone:
// nothing without failures; while closed the delay, at least 1 s, doubled with
// every failure; while open 30 s, doubled with every cycle. At most
// MaxBackoff.
func (b Breaker) Wait(delay time.Duration) time.Duration {
	switch {
	case b.Open:
		return double(firstProbe, b.Cycles)
	case b.Failures > 0:
		return double(max(delay, FirstBackoff), b.Failures)
	}
	return 0
}

// double returns first, doubled n-1 times, at most MaxBackoff.
func double(first time.Duration, n uint32) time.Duration {
	wait := first
	for ; n > 1 && wait < MaxBackoff; n-- {
		wait *= 2
	}
	return min(wait, MaxBackoff)
}
