package politeness

import (
	"math"
	"time"
)

// A server that asks for fewer requests (429 or 503) gets no request for a while. It also gets
// a delay of its own, which is learnt. No header tells how a server counts: it may permit so
// many requests in each minute, or in the minute before each request, or refill a bucket, or want
// a least time between two requests. In all these cases it answers some requests and then
// refuses for some time. This time, divided by the number of answers, is what the delay lacks.

// Pace is the delay between the starts of two requests to a server that asked for fewer
// requests. The zero value has no such delay.
//
//	none ──Refused──► grows ──Resumed──► is corrected ──Answered──► shrinks ──► none
//	                    ▲                                              │
//	                    └───────────────── Refused ────────────────────┘
//
// It shrinks slowly for as many answers as the server gave the last time before it refused, and
// then faster and faster. So a pace that is right is seldom tested, and a pace that the server
// does not ask for any more is soon forgotten.
type Pace struct {
	// LearntMS is the delay, 0: none. Answers counts the answers since the server last resumed.
	LearntMS, Answers uint32
	// Steady is about how many answers the server gives before it refuses. 0: it has not resumed
	// yet, or a former version wrote the pace.
	Steady uint32
}

const (
	// leastLearnt is the shortest delay that is learnt, mostLearnt the longest one.
	leastLearnt = 20 * time.Millisecond
	mostLearnt  = time.Minute
	// longestRefusal is how much of the time in which a server refused counts. Limits by the
	// hour or the day are not learnt.
	longestRefusal = time.Minute
	// leastSteady and mostSteady bound Pace.Steady. After the first refusal it is less, because
	// nobody counted the answers before.
	leastSteady, mostSteady, firstSteady = 24, 256, 8
	// assumedAnswers is Pace.Answers before the first refusal if nothing is known of it, and
	// leastAnswers if there were few requests: so one refusal alone does not teach a long delay.
	assumedAnswers, leastAnswers = 20, 5
	// firstGrowth is the part by which the first refusal makes the delay longer. The others do
	// that by firstGrowth, divided by the number of answers, and leastGrowth at least.
	firstGrowth, leastGrowth = 0.3, 0.08
	// shrinkage is the part by which the delay is shorter after Steady answers.
	shrinkage = 0.05
)

// Delay returns the learnt delay.
func (p Pace) Delay() time.Duration { return time.Duration(p.LearntMS) * time.Millisecond }

// Refused returns the pace after a server began to ask for fewer requests. delay is the delay of
// the requests so far, asked the largest number of requests that it may have answered on this
// day. Answers are not counted before the first refusal, because most servers never refuse.
func (p Pace) Refused(delay time.Duration, asked uint64) Pace {
	if p.LearntMS == 0 {
		p.Answers = answersBefore(delay, asked)
	}
	p.set(time.Duration((1 + p.growth(1)) * float64(max(p.Delay(), delay))))
	return p
}

// growth is the part by which so many refusals make the delay longer.
func (p Pace) growth(refusals uint32) float64 {
	if p.Steady == 0 {
		return firstGrowth
	}
	return min(max(leastGrowth, firstGrowth*float64(refusals)/float64(max(p.Answers, 1))), 1)
}

// answersBefore estimates how many requests a server answered before its first refusal, in the
// longest time that counts.
func answersBefore(delay time.Duration, asked uint64) uint32 {
	if asked == 0 {
		return assumedAnswers
	}
	most := uint64(mostSteady)
	if delay > 0 {
		most = min(most, uint64(longestRefusal/delay))
	}
	return uint32(max(min(asked, most), leastAnswers))
}

// Resumed returns the pace when a server answers again, after it refused for some time. A pace
// that was right would have spread this time over the answers before. If the server refused
// sooner than usual, the time is spread over more answers than these, because single refusals
// tell little.
func (p Pace) Resumed(refused time.Duration) Pace {
	before := time.Duration(float64(p.Delay()) / (1 + p.growth(1)))
	lacks := max(min(refused, longestRefusal)-before, 0) / time.Duration(p.usual())
	p.set(max(p.Delay(), before+lacks))
	return p.again()
}

// Proved returns the pace when a page is fetched that the server refused so many times, while it
// answered other requests. Each refusal was taken for one of the page until now.
func (p Pace) Proved(refusals uint32) Pace {
	p.set(time.Duration((1 + p.growth(refusals)) * float64(p.Delay())))
	return p.again()
}

// usual is the number of answers over which a refusal is spread.
func (p Pace) usual() uint32 { return max(p.Answers, p.Steady/2, 1) }

// again counts the answers from the first one on after a refusal.
func (p Pace) again() Pace {
	least := uint32(leastSteady)
	if p.Steady == 0 {
		least = firstSteady
	}
	p.Answers, p.Steady = 1, min(max(p.usual(), least), mostSteady)
	return p
}

func (p *Pace) set(delay time.Duration) {
	p.LearntMS = uint32(min(max(delay, leastLearnt), mostLearnt).Milliseconds())
}

// Answered returns the pace after an answer. It is none if another delay, which holds anyway,
// is longer.
func (p Pace) Answered(other time.Duration) Pace {
	if p.LearntMS == 0 {
		return Pace{}
	}
	p.Answers = min(p.Answers, 1<<20) + 1
	p.LearntMS -= min(p.step(), p.LearntMS)
	if p.Delay() < max(leastLearnt, other) {
		return Pace{}
	}
	return p
}

// step returns by how many milliseconds the latest answer makes the delay shorter. Most steps are
// less than a millisecond. So each is rounded up or down, by a sequence of numbers between 0 and 1
// that are spread evenly.
func (p Pace) step() uint32 {
	steady := float64(max(p.Steady, firstSteady))
	beyond := max(float64(p.Answers)/steady, 1)
	whole, part := math.Modf(float64(p.LearntMS) * shrinkage / steady * beyond * beyond)
	if _, spread := math.Modf(float64(p.Answers) * math.Phi); spread < part {
		whole++
	}
	return uint32(min(whole, math.MaxUint32))
}

// Refusal returns how long a server refused, when it answers again. since is the time since its
// first refusal, wait the wait after its last one. If the server asked for this wait, it refused
// until now. Otherwise it may have stopped at any moment of the wait.
func Refusal(since, wait time.Duration, asked bool) time.Duration {
	if asked {
		return since
	}
	return max(since-wait/2, 0)
}

// ThrottleWait returns how long a host gets no request after it asked for fewer requests for
// the nth time in a row (from 1) without Retry-After: 1 s, doubled each time, at most
// MaxBackoff.
func ThrottleWait(nth uint32) time.Duration { return double(FirstBackoff, nth) }

// BrokenPageWait is the least wait of a page that answers 503 although two checks of its host were
// answered since a page was fetched. Meanwhile the pages behind it get their turn.
const BrokenPageWait = 10 * time.Minute

// ThrottledDown is how many requests for fewer requests in a row, without an answer, make a host
// down. It takes more of them than other failures: a host that permits some requests a minute
// may refuse all others for a minute.
const ThrottledDown = 8
