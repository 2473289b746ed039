package politeness

import "time"

// A server that asks for fewer requests (429 or 503) gets no request for a while. It also gets
// a longer delay of its own. This delay grows each time that the server begins to ask, and
// again when the server answers, by as much as the time in which it refused tells. It shrinks
// by a small part with every answer. So the crawl finds the permitted rate, and stays near it.

const (
	// leastLearnt is the shortest delay that is learnt first, mostLearnt the longest one.
	leastLearnt = 500 * time.Millisecond
	mostLearnt  = time.Minute
	// learntPart is the part of a learnt delay by which an answer shortens it, learntStep the
	// least step.
	learntPart = 50
	learntStep = 20 * time.Millisecond
	// assumedAnswers is how many requests are taken to have been answered before a server asks
	// for fewer requests for the first time. They are not counted, because most servers never
	// ask.
	assumedAnswers = 20
	// longestRefusal is how much of the time in which a server refused counts. Longer times
	// are seldom due to the pace.
	longestRefusal = time.Minute
)

// AfterThrottle returns the learnt delay in milliseconds after a server began to ask for fewer
// requests. learntMS is the learnt delay before, delay the delay of the requests so far.
func AfterThrottle(learntMS uint32, delay time.Duration) uint32 {
	before := max(time.Duration(learntMS)*time.Millisecond, delay)
	return learnt(before + before*3/10)
}

// AfterRefusals returns the learnt delay in milliseconds when a server answers again, after it
// refused requests for some time. Before that it gave this many answers, 0 if they were not
// counted. A server that permits a number of requests in a span of time answers them and then
// refuses until the span is over. This time, divided by the number of answers, is what is
// missing in the delay.
func AfterRefusals(learntMS, answers uint32, refused time.Duration) uint32 {
	if answers == 0 {
		answers = assumedAnswers
	}
	before := time.Duration(learntMS) * time.Millisecond
	return learnt(before + max(min(refused, longestRefusal)-before, 0)/time.Duration(answers))
}

func learnt(delay time.Duration) uint32 {
	return uint32(min(max(delay, leastLearnt), mostLearnt).Milliseconds())
}

// AfterAnswer returns the learnt delay in milliseconds after a server answered.
func AfterAnswer(learntMS uint32) uint32 {
	if step := max(learntMS/learntPart, uint32(learntStep.Milliseconds())); learntMS > step {
		return learntMS - step
	}
	return 0
}

// ThrottleWait returns how long a host gets no request after it asked for fewer requests for
// the nth time in a row (from 1) without Retry-After: 1 s, doubled each time, at most
// MaxBackoff.
func ThrottleWait(nth uint32) time.Duration { return double(FirstBackoff, nth) }

// ThrottledDown is how many requests for fewer requests in a row, without an answer, make a host
// down. It takes more of them than other failures: a host that permits some requests a minute
// may refuse all others for a minute.
const ThrottledDown = 8
