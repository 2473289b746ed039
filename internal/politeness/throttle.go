package politeness

import "time"

// A server that asks for fewer requests (429, or 503 with Retry-After) is left alone for a
// while, and gets a longer delay of its own: it doubles each time that the server begins
// to ask, and shrinks by a little with every answer. So a crawl finds the rate that is
// permitted and stays near it.

const (
	// leastLearnt is the first delay that is learnt, mostLearnt the longest.
	leastLearnt = 500 * time.Millisecond
	mostLearnt  = time.Minute
	// learntStep is what an answer takes off a learnt delay.
	learntStep = 20 * time.Millisecond
)

// AfterThrottle returns the learnt delay in milliseconds after a server asked for fewer
// requests. learntMS is the one before, delay what was kept between requests.
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

// ThrottleWait returns how long a host is left alone that asked for fewer requests for the
// nth time in a row (from 1) without Retry-After: 1 s, doubled each time, at most
// MaxBackoff.
func ThrottleWait(nth uint32) time.Duration { return double(FirstBackoff, nth) }
