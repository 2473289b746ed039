package hostqueue_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// A clock that is only a number steps through a queue: what the queue says at
// each time, and what is done then.
func TestQueueTimeline(t *testing.T) {
	start := time.Unix(0, 0)
	dropped, drop := context.WithCancel(t.Context())
	var q hostqueue.Queue
	first := visit("d", "a", 3, time.Second)
	first.Settled = map[uint32]bool{1: true}
	q.Add(t.Context(), first)
	q.Add(dropped, visit("d", "b", 1, time.Second))
	last := visit("d", "c", 4, time.Second)
	last.NotBefore = start.Add(20 * time.Second)
	q.Add(t.Context(), last)

	made := func(at int, answer hostqueue.Answer) func() {
		return func() { q.Made(start.Add(time.Duration(at)*time.Second), answer, 0) }
	}
	for _, c := range []struct {
		at   int // seconds
		want string
		do   func()
	}{
		{0, "ask a 0", made(2, hostqueue.Answer{})},
		{2, "wait 3 a", nil},
		{3, "ask a 2", made(4, hostqueue.Answer{Rest: 5 * time.Second})},
		{4, "finish a 3", q.Drop},
		{4, "wait 9 b", drop},
		{9, "wait 20 c", nil},
		{20, "ask c 0", made(21, hostqueue.Answer{Unreached: true})},
		{21, "ask c 1", made(22, hostqueue.Answer{})},
		{23, "ask c 2", made(24, hostqueue.Answer{Failed: true, RetryAfter: 9 * time.Second})},
		{24, "skip c 3", q.Skipped},
		{24, "finish c 4", q.Drop},
		{24, "idle 25", nil},
		{25, "over", nil},
	} {
		step := q.Next(start.Add(time.Duration(c.at) * time.Second))
		if step.Kind == hostqueue.LookUp {
			q.Found()
			step = q.Next(start.Add(time.Duration(c.at) * time.Second))
		}
		if got := shown(step, start); got != c.want {
			t.Fatalf("at %d it says %q, want %q", c.at, got, c.want)
		}
		if again := q.Next(start.Add(time.Duration(c.at) * time.Second)); again != step {
			t.Fatalf("at %d it says %v, then %v", c.at, step, again)
		}
		if c.do != nil {
			c.do()
		}
	}
}

func shown(s hostqueue.Step, start time.Time) string {
	kind := map[hostqueue.Kind]string{hostqueue.Over: "over", hostqueue.Idle: "idle", hostqueue.Wait: "wait", hostqueue.Ask: "ask", hostqueue.Skip: "skip", hostqueue.Finish: "finish"}[s.Kind]
	until := int(s.Until.Sub(start).Seconds())
	switch {
	case s.Kind == hostqueue.Idle:
		return fmt.Sprint(kind, " ", until)
	case s.Kind == hostqueue.Wait:
		return fmt.Sprint(kind, " ", until, " ", s.Visit.Id)
	case slices.Contains([]hostqueue.Kind{hostqueue.Ask, hostqueue.Skip, hostqueue.Finish}, s.Kind):
		return fmt.Sprint(kind, " ", s.Visit.Id, " ", s.Index)
	}
	return kind
}

func TestChooseOpensQueuesBeforeVisitsWait(t *testing.T) {
	for _, c := range []struct {
		waiting []int // visits that wait in each queue; -1: the queue is not open
		want    int
	}{
		{[]int{-1, -1}, 0},
		{[]int{0, -1}, 1},
		{[]int{-1, 0}, 0},
		{[]int{2, 1, 1}, 1},
		{[]int{3}, 0},
	} {
		got := hostqueue.Choose(len(c.waiting), func(nth int) (int, bool) { return c.waiting[nth], c.waiting[nth] >= 0 })
		if got != c.want {
			t.Errorf("of %v it chose %d, want %d", c.waiting, got, c.want)
		}
	}
}

// A Crawl-delay that another domain told runs from the answer that redirected robots.txt there,
// whenever the visit comes that knows of it, and in whatever queue.
func TestACrawlDelayFromAnotherDomain(t *testing.T) {
	var memory hostqueue.Memory
	start := time.Unix(0, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	next := func(q *hostqueue.Queue, ms int) hostqueue.Step {
		step := q.Next(at(ms))
		if step.Kind == hostqueue.LookUp {
			q.Found()
			step = q.Next(at(ms))
		}
		return step
	}
	var first, second hostqueue.Queue
	first.Remember(&memory)
	second.Remember(&memory)
	first.Add(t.Context(), visitOf("d", "robots", time.Second, "http://www.d/robots.txt"))
	next(&first, 0)
	first.Made(at(100), hostqueue.Answer{Referred: true}, 0)
	next(&first, 100)
	first.Drop()
	if step := first.Next(at(1100)); step.Kind != hostqueue.Over {
		t.Fatalf("after the delay the queue says %v", step)
	}
	second.Add(t.Context(), visitOf("d", "pages", 3*time.Second, "http://www.d/", "http://www.d/2"))
	if step := next(&second, 1500); step.Kind != hostqueue.Wait || !step.Until.Equal(at(3100)) {
		t.Fatalf("%v, want a wait until 3 s after the answer", step)
	}
	if step := next(&second, 3100); step.Kind != hostqueue.Ask {
		t.Fatalf("%v 3 s after the answer", step)
	}
	second.Made(at(3200), hostqueue.Answer{}, 0)
	if step := next(&second, 3200); step.Kind != hostqueue.Wait || !step.Until.Equal(at(6200)) {
		t.Errorf("%v after the first page, want its delay", step)
	}
	var other hostqueue.Queue
	other.Remember(&memory)
	other.Add(t.Context(), visitOf("d", "another", 3*time.Second, "http://d/"))
	if step := next(&other, 1500); step.Kind != hostqueue.Ask {
		t.Errorf("another host waits, too: %v", step)
	}
}

// The step that skips a request says for how long its host asked for no request, if it did.
func TestASkipSaysForHowLong(t *testing.T) {
	for _, asked := range []time.Duration{0, time.Minute} {
		var q hostqueue.Queue
		now := time.Unix(100, 0)
		q.Add(t.Context(), visitOf("d", "v", 0, "http://d/1", "http://d/2"))
		q.Next(now)
		q.Found()
		q.Made(now, hostqueue.Answer{Failed: true, RetryAfter: asked}, 0)
		want := time.Time{}
		if asked > 0 {
			want = now.Add(asked)
		}
		if step := q.Next(now.Add(time.Second)); step.Kind != hostqueue.Skip || !step.Until.Equal(want) {
			t.Errorf("after a failure with Retry-After %v it says %v, want a skip until %v", asked, step, want)
		}
	}
}

// A page that fails, perhaps it alone, does not stop the visit: its host is skipped after two
// in a row, or when it asks for time.
func TestAPageThatFails(t *testing.T) {
	failed, page := hostqueue.Answer{Failed: true}, hostqueue.Answer{Failed: true, Page: true}
	busy := hostqueue.Answer{Failed: true, Page: true, RetryAfter: time.Minute}
	for _, c := range []struct {
		answers []hostqueue.Answer // to the requests that are made
		made    int                // of five to one host
	}{
		{[]hostqueue.Answer{page, {}, page, {}, page}, 5},
		{[]hostqueue.Answer{{}, page, page}, 3},
		{[]hostqueue.Answer{page, failed}, 2},
		{[]hostqueue.Answer{failed}, 1},
		{[]hostqueue.Answer{{}, busy}, 2},
	} {
		var q hostqueue.Queue
		q.Add(t.Context(), visit("d", "v", 5, 0))
		now, made := time.Unix(0, 0), 0
		for step := q.Next(now); step.Kind != hostqueue.Finish; step = q.Next(now) {
			switch step.Kind {
			case hostqueue.LookUp:
				q.Found()
			case hostqueue.Skip:
				q.Skipped()
			case hostqueue.Ask:
				if made == len(c.answers) {
					t.Fatalf("%v: request %d is made", c.answers, made+1)
				}
				q.Made(now, c.answers[made], 0)
				made++
			default:
				t.Fatalf("it says %v", step)
			}
		}
		if made != c.made {
			t.Errorf("%v: %d requests are made, want %d", c.answers, made, c.made)
		}
	}
}

// The host of a request is looked up before its delay. A request whose host is not found
// is over, and costs the domain nothing.
func TestHostIsLookedUpBeforeTheDelay(t *testing.T) {
	now := time.Unix(0, 0)
	v := &hostqueue.Visit{Domain: "d", Visit: &weftpb.Visit{Id: "v", DelayMs: 60_000}}
	for _, host := range []string{"a", "dead", "dead", "broken", "b"} {
		v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: "http://" + host + ".d/"}})
	}
	var q hostqueue.Queue
	q.Add(t.Context(), v)
	made := func(answer hostqueue.Answer) func() { return func() { q.Made(now, answer, 0) } }
	for n, c := range []struct {
		kind  hostqueue.Kind
		index int
		do    func()
	}{
		{hostqueue.LookUp, 0, q.Found},
		{hostqueue.Ask, 0, made(hostqueue.Answer{})},
		{hostqueue.LookUp, 1, made(hostqueue.Answer{Failed: true, Unreached: true})},
		{hostqueue.Skip, 2, q.Skipped},
		{hostqueue.LookUp, 3, made(hostqueue.Answer{Unreached: true})},
		{hostqueue.LookUp, 4, q.Found},
		{hostqueue.Wait, 4, func() { now = now.Add(time.Minute) }},
		{hostqueue.Ask, 4, made(hostqueue.Answer{})},
		{hostqueue.Finish, 5, q.Drop},
	} {
		if step := q.Next(now); step.Kind != c.kind || step.Index != c.index {
			t.Fatalf("step %d is %v, want %v of %d", n, step, c.kind, c.index)
		}
		c.do()
	}
}
