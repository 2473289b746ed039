package politeness

import "time"

// A server that asks for fewer requests (429 or 503) gets no request for a while. It also gets
// a longer delay of its own. This delay doubles each time that the server begins to ask, and
// shrinks a little with every answer. So the crawl finds the permitted rate and stays near it.

const (
	// leastLearnt is the shortest delay that is learnt first, mostLearnt the longest one.
	leastLearnt = 500 * time.Millisecond
	mostLearnt  = time.Minute
	// learntStep is by how much an answer shortens a learnt delay.
	learntStep = 20 * time.Millisecond
)

// AfterThrottle returns the learnt delay in milliseconds after a server asked for fewer
// requests. learntMS is the learnt delay before, delay the delay of the requests so far.
func AfterThrottle(learntMS uint32, delay time.Duration) uint32 {
	before := max(time.Duration(learntMS)*time.Millisecond, delay)
	return uint32(min(max(2*before, leastLearnt), mostLearnt).Milliseconds())
}

// AfterAnswer returns the learnt delay in milliseconds after a server answered.
func AfterAnswer(learntMS uint32) uint32 {
	if step := uint32(learntStep.Milliseconds()); learntMS > step {
		return learntMS - step
	}
	return 0
}

// ThrottleWait returns how long a host gets no request after it asked for fewer requests for
// the nth time in a row (from 1) without Retry-After: 1 s, doubled each time, at most
// MaxBackoff.
func ThrottleWait(nth uint32) time.Duration { return double(FirstBackoff, nth) }
