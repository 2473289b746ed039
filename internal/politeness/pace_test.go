package politeness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// limiter is how a server limits requests. ask returns 0 if it answers a request, and otherwise
// after how long it would.
type limiter interface {
	ask(now time.Duration) time.Duration
}

// bucket holds so many tokens, and gets one each interval. With one token, it wants a least time
// between two requests.
type bucket struct {
	interval time.Duration
	size     int
	missing  time.Duration // how long it takes until it is full
	asked    time.Duration
}

func (b *bucket) ask(now time.Duration) time.Duration {
	b.missing, b.asked = max(b.missing-(now-b.asked), 0), now
	if wait := b.missing - time.Duration(b.size-1)*b.interval; wait > 0 {
		return wait
	}
	b.missing += b.interval
	return 0
}

// fixedWindow answers so many requests in each minute.
type fixedWindow struct {
	most, asked int
	window      time.Duration
}

func (f *fixedWindow) ask(now time.Duration) time.Duration {
	now += 37 * time.Second // the crawl does not begin with a minute
	if window := now.Truncate(time.Minute); window != f.window {
		f.window, f.asked = window, 0
	}
	if f.asked == f.most {
		return f.window + time.Minute - now
	}
	f.asked++
	return 0
}

// slidingWindow answers so many requests in any minute. strict: those that it refuses count, too.
type slidingWindow struct {
	most   int
	strict bool
	asked  []time.Duration
}

func (s *slidingWindow) ask(now time.Duration) time.Duration {
	s.asked = slices.DeleteFunc(s.asked, func(at time.Duration) bool { return at <= now-time.Minute })
	wait := time.Duration(0)
	if n := len(s.asked) - s.most; n >= 0 {
		wait = s.asked[n] + time.Minute - now
	}
	if wait == 0 || s.strict {
		s.asked = append(s.asked, now)
	}
	return wait
}

// paced is a crawl of one host by its pace.
type paced struct {
	limit limiter
	delay time.Duration // configured
	tells bool          // Retry-After
	rng   *rand.Rand

	pace            Pace
	throttled       uint32
	since, wait     time.Duration
	answers         []time.Duration
	refusals        []time.Duration
	least, greatest time.Duration // learnt delay since the second minute
}

func (c *paced) jitter(most time.Duration) time.Duration {
	return time.Duration(c.rng.Int64N(int64(most)))
}

func (c *paced) run(span time.Duration) {
	for at := time.Duration(0); at < span; at += c.jitter(50 * time.Millisecond) {
		lacks := c.limit.ask(at)
		response := 20*time.Millisecond + c.jitter(100*time.Millisecond)
		now := at + response + c.jitter(50*time.Millisecond) // when the scheduler hears of it
		if lacks > 0 {
			at = now + c.refused(now, lacks)
			continue
		}
		if c.throttled > 0 {
			c.pace = c.pace.Resumed(Refusal(now-c.since, c.wait, c.tells))
		} else {
			c.pace = c.pace.Answered(c.delay)
		}
		c.throttled, c.answers = 0, append(c.answers, at)
		if at > settling {
			c.least, c.greatest = min(c.least, c.pace.Delay()), max(c.greatest, c.pace.Delay())
		}
		at = max(now, at+response+c.delay, at+c.pace.Delay())
	}
}

func (c *paced) refused(now, lacks time.Duration) time.Duration {
	if c.refusals = append(c.refusals, now); c.throttled == 0 {
		c.since, c.pace = now, c.pace.Refused(c.delay, uint64(len(c.answers)))
	}
	c.throttled++
	if c.wait = max(ThrottleWait(c.throttled), c.delay, c.pace.Delay()); c.tells {
		c.wait = max(c.wait, lacks.Truncate(time.Second)+time.Second)
	}
	return c.wait
}

// settling is how long the pace may take to come near to the permitted one.
const settling = 2 * time.Minute

// after is the number of times that are not before one.
func after(times []time.Duration, from time.Duration) int {
	n, _ := slices.BinarySearch(times, from)
	return len(times) - n
}

// Whatever way a server limits requests, and whether it says when to come back or not, it is asked
// at nearly the rate that it permits after two minutes, and refuses few requests.
func TestPaceOfLimiters(t *testing.T) {
	const span = 20 * time.Minute
	for _, rate := range []struct {
		name      string
		perMinute int
		delay     time.Duration
	}{
		{"10 a minute", 10, time.Second},
		{"10 a minute, no delay", 10, 0},
		{"60 a minute", 60, 0},
		{"2 a second", 120, 0},
	} {
		interval := time.Minute / time.Duration(rate.perMinute)
		for _, c := range []struct {
			limiter string
			limit   func() limiter
			least   float64 // of the permitted rate
		}{
			{"bucket", func() limiter { return &bucket{interval: interval, size: rate.perMinute} }, 0.98},
			{"small bucket", func() limiter { return &bucket{interval: interval, size: 5} }, 0.98},
			{"interval", func() limiter { return &bucket{interval: interval, size: 1} }, 0.9},
			{"fixed window", func() limiter { return &fixedWindow{most: rate.perMinute} }, 0.96},
			{"sliding window", func() limiter { return &slidingWindow{most: rate.perMinute} }, 0.92},
			{"strict sliding window", func() limiter { return &slidingWindow{most: rate.perMinute, strict: true} }, 0.8},
		} {
			for _, tells := range []bool{true, false} {
				for seed := range uint64(3) {
					t.Run(fmt.Sprintf("%s, %s, Retry-After %v, %d", rate.name, c.limiter, tells, seed), func(t *testing.T) {
						crawl := &paced{limit: c.limit(), delay: rate.delay, tells: tells, rng: rand.New(rand.NewPCG(seed, 1)), least: time.Hour}
						crawl.run(span)
						got := float64(after(crawl.answers, settling)) / (span - settling).Minutes() / float64(rate.perMinute)
						refused := float64(len(crawl.refusals)) / float64(len(crawl.answers))
						t.Logf("%.2f of the rate, %.3f refusals for each answer, %.3f after two minutes; %v to %v between requests", got, refused,
							float64(after(crawl.refusals, settling))/float64(after(crawl.answers, settling)), crawl.least, crawl.greatest)
						if got < c.least || refused > 0.12 || crawl.greatest > 2*interval {
							t.Error("it is not near to the permitted pace")
						}
					})
				}
			}
		}
	}
}

// What a server permits may change: the pace follows, to a slower one within two minutes, to a
// faster one within some hundred answers. A pace that nobody asks for is forgotten.
func TestPaceFollows(t *testing.T) {
	for seed := range uint64(3) {
		c := &paced{limit: &bucket{interval: 6 * time.Second, size: 3}, delay: time.Second, rng: rand.New(rand.NewPCG(seed, 2)), least: time.Hour}
		c.run(20 * time.Minute)
		c.answers, c.limit = nil, &bucket{size: 1}
		c.run(30 * time.Minute)
		if n := len(c.answers); c.pace != (Pace{}) || n < 700 {
			t.Errorf("half an hour later %d answers, and %+v", n, c.pace)
		}
		c.answers, c.limit = nil, &fixedWindow{most: 10}
		c.run(20 * time.Minute)
		if n := after(c.answers, settling); n < 162 {
			t.Errorf("%d answers in 18 minutes of ten a minute, after %d of any number", n, len(c.answers))
		}
	}
}

// A pace is never longer than a minute, whatever is heard of the server, and steps of less than a
// millisecond add up.
func TestPaceBounds(t *testing.T) {
	p := Pace{}.Refused(0, 0)
	if p.Delay() < leastLearnt || p.Answers != assumedAnswers {
		t.Errorf("%+v", p)
	}
	for range 40 {
		p = p.Resumed(time.Hour).Refused(0, 0)
	}
	if p.Delay() != mostLearnt {
		t.Errorf("after many refusals %+v", p)
	}
	if p := (Pace{}.Refused(0, 1)).Resumed(time.Hour); p.Delay() > longestRefusal/4 {
		t.Errorf("the first refusal teaches %v", p.Delay())
	}
	once, often := Pace{LearntMS: 1000, Answers: 3, Steady: 30}.Proved(1), Pace{LearntMS: 1000, Answers: 3, Steady: 30}.Proved(3)
	if once.LearntMS != 1100 || often.LearntMS != 1300 || once.Answers != 1 {
		t.Errorf("a page that was refused once, and three times: %+v, %+v", once, often)
	}
	p = Pace{LearntMS: 300, Answers: 1, Steady: mostSteady}
	for range mostSteady {
		p = p.Answered(0)
	}
	if p.LearntMS < 284 || p.LearntMS > 286 {
		t.Errorf("after %d answers %+v", mostSteady, p)
	}
	for former := (Pace{LearntMS: 6000, Answers: 3}); former != (Pace{}); former = former.Answered(0) {
		if former.Answers > 200 {
			t.Fatalf("the pace of a former version never ends: %+v", former)
		}
	}
	if p := (Pace{LearntMS: 900, Answers: 30, Steady: 30}).Answered(time.Second); p != (Pace{}) {
		t.Errorf("shorter than the delay: %+v", p)
	}
}
