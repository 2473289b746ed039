package hostqueue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
)

// web is a Requester that answers after a random time and writes an access log.
type web struct {
	mu       sync.Mutex
	log      map[string][]span
	open     int
	most     int
	finished map[string]int // rest by visit
	skipped  []string       // visit and index
	answer   func(v *hostqueue.Visit, i int) hostqueue.Answer
	gate     func(ctx context.Context) error
	crowded  func(v *hostqueue.Visit, i int) bool
	takes    func(v *hostqueue.Visit, i int) time.Duration // nil: at random
	lookUp   func(ctx context.Context, v *hostqueue.Visit, i int) (hostqueue.Answer, bool)
	ahead    []string // visits whose hosts were looked up ahead
	hung     []string // visit, index, and how long after began
	began    time.Time
}

type span struct{ start, end time.Time }

func newWeb() *web { return &web{log: map[string][]span{}, finished: map[string]int{}} }

func (w *web) LookAhead(_ context.Context, v *hostqueue.Visit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead = append(w.ahead, v.Id)
}

func (w *web) LookUp(ctx context.Context, v *hostqueue.Visit, i int) (hostqueue.Answer, bool) {
	if w.lookUp == nil {
		return hostqueue.Answer{}, true
	}
	return w.lookUp(ctx, v, i)
}

func (w *web) Gate(ctx context.Context, _ *hostqueue.Visit) error {
	if w.gate != nil {
		return w.gate(ctx)
	}
	return nil
}

func (w *web) Enter(ctx context.Context, v *hostqueue.Visit, i int) (leave func(), crowded bool) {
	if w.crowded != nil && w.crowded(v, i) {
		return nil, true
	}
	return func() {}, false
}

func (*web) Priority(v *hostqueue.Visit, i int) int { return int(v.Requests[i].Priority) }

func (w *web) Request(_ context.Context, v *hostqueue.Visit, i int) hostqueue.Answer {
	start := time.Now()
	w.mu.Lock()
	w.open++
	w.most = max(w.most, w.open)
	w.mu.Unlock()
	if w.takes != nil {
		time.Sleep(w.takes(v, i))
	} else {
		time.Sleep(rand.N(300 * time.Millisecond))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open--
	w.log[v.Domain] = append(w.log[v.Domain], span{start, time.Now()})
	if w.answer != nil {
		return w.answer(v, i)
	}
	return hostqueue.Answer{}
}

func (w *web) Skip(_ context.Context, v *hostqueue.Visit, i int, _ time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skipped = append(w.skipped, v.Id+" "+strconv.Itoa(i))
}

func (w *web) Hang(_ context.Context, v *hostqueue.Visit, i int, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hung = append(w.hung, v.Id+" "+strconv.Itoa(i)+" after "+v.HungAfter(w.began).String())
	if !at.Equal(time.Now()) {
		panic("a request hangs at another time")
	}
}

func (w *web) Finish(_ context.Context, v *hostqueue.Visit, rest int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finished[v.Id] = rest
}

func visit(domain, id string, n int, delay time.Duration) *hostqueue.Visit {
	v := &hostqueue.Visit{Domain: domain, Visit: &weftpb.Visit{Id: id, DelayMs: uint32(delay.Milliseconds())}}
	for i := range n {
		v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: strconv.Itoa(i)}})
	}
	return v
}

// Whatever arrives, no two requests of a domain overlap or come closer than
// its delay, and every visit is finished.
func TestDomainIsSerialAndPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		opts := hostqueue.Defaults()
		opts.Slots = 7
		l := hostqueue.New(opts, w)
		const delay = 400 * time.Millisecond
		for i := range 60 {
			l.Start(t.Context(), visit("d"+strconv.Itoa(i%10), strconv.Itoa(i), 1+i%4, delay))
			time.Sleep(rand.N(200 * time.Millisecond))
		}
		l.Wait()
		for domain, spans := range w.log {
			for i := 1; i < len(spans); i++ {
				if gap := spans[i].start.Sub(spans[i-1].end); gap < delay {
					t.Errorf("%s: request %d came %v after the one before", domain, i, gap)
				}
			}
		}
		if len(w.finished) != 60 {
			t.Errorf("%d of 60 visits finished", len(w.finished))
		}
		if w.most > 7 {
			t.Errorf("%d requests open at once with 7 slots", w.most)
		}
	})
}

func TestWaitingCostsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		opts := hostqueue.Defaults()
		opts.Slots = 1
		l := hostqueue.New(opts, w)
		began := time.Now()
		for i := range 20 { // 20 domains × 2 requests share a slot: 40 × ≤ 0.3 s + one delay
			l.Start(t.Context(), visit("d"+strconv.Itoa(i), strconv.Itoa(i), 2, 10*time.Second))
		}
		l.Wait()
		// The queues wait for their last delay before Wait returns.
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("took %v; delays were served one after another", took)
		}
	})
}

func TestStopRestAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answer = func(v *hostqueue.Visit, i int) hostqueue.Answer {
			if v.Id == "a" && i == 1 {
				return hostqueue.Answer{Stop: true, Rest: time.Minute}
			}
			return hostqueue.Answer{}
		}
		l := hostqueue.New(hostqueue.Defaults(), w)
		began := time.Now()
		first := visit("d", "a", 4, time.Second)
		first.NotBefore = began.Add(5 * time.Second)
		first.Settled = map[uint32]bool{0: true}
		l.Start(t.Context(), first)
		l.Start(t.Context(), visit("d", "b", 1, time.Second))
		l.Wait()
		spans := w.log["d"]
		if len(spans) != 2 || spans[0].start.Sub(began) != 5*time.Second {
			t.Fatalf("requests %v, want one 5 s after the start and one after the rest", spans)
		}
		if gap := spans[1].start.Sub(spans[0].end); gap < time.Minute {
			t.Errorf("asked again %v after a rest of a minute", gap)
		}
		if w.finished["a"] != 2 {
			t.Errorf("rest of a begins at %d, want 2", w.finished["a"])
		}
	})
}

// What does not get its turn at an address is given back, and the next visit goes on.
func TestCrowdedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.crowded = func(v *hostqueue.Visit, i int) bool { return v.Id == "a" && i == 2 }
		l := hostqueue.New(hostqueue.Defaults(), w)
		l.Start(t.Context(), visit("d", "a", 4, time.Second))
		l.Start(t.Context(), visit("d", "b", 1, time.Second))
		l.Wait()
		if len(w.log["d"]) != 3 || w.finished["a"] != 2 || w.finished["b"] != 1 {
			t.Errorf("%d requests; the rests of the visits begin at %v", len(w.log["d"]), w.finished)
		}
	})
}

// A request can be settled before its turn, and while the queue waits for the delay before it.
func TestRequestsSettledLateAreNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		v := visit("d", "a", 5, time.Second)
		var made []int
		w.answer = func(v *hostqueue.Visit, i int) hostqueue.Answer {
			made = append(made, i)
			if i == 0 {
				v.Settle(2)
				time.AfterFunc(500*time.Millisecond, func() { v.Settle(1) })
			}
			return hostqueue.Answer{}
		}
		l := hostqueue.New(hostqueue.Defaults(), w)
		l.Start(t.Context(), v)
		l.Wait()
		if !slices.Equal(made, []int{0, 3, 4}) || w.finished["a"] != 5 {
			t.Errorf("made requests %v, rest begins at %d", made, w.finished["a"])
		}
	})
}

func TestEndedContextDropsTheVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		ctx, cancel := context.WithCancel(t.Context())
		w.answer = func(*hostqueue.Visit, int) hostqueue.Answer { cancel(); return hostqueue.Answer{} }
		l := hostqueue.New(hostqueue.Defaults(), w)
		l.Start(ctx, visit("d", "a", 3, time.Second))
		l.Wait()
		if len(w.log["d"]) != 1 || len(w.finished) != 0 {
			t.Errorf("%d requests, finished %v after the context's end", len(w.log["d"]), w.finished)
		}
	})
}

func TestClosedGateDropsTheVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.gate = func(context.Context) error { return errors.New("lease lost") }
		l := hostqueue.New(hostqueue.Defaults(), w)
		l.Start(t.Context(), visit("d", "a", 3, 0))
		l.Wait()
		if len(w.log) != 0 || slices.Contains([]int{0, 1, 2}, len(w.finished)-1) {
			t.Errorf("requests %v, finished %v behind a closed gate", w.log, w.finished)
		}
	})
}

func TestCloseEndsTheWaitForADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answer = func(*hostqueue.Visit, int) hostqueue.Answer {
			return hostqueue.Answer{Stop: true, Rest: 24 * time.Hour}
		}
		l := hostqueue.New(hostqueue.Defaults(), w)
		began := time.Now()
		l.Start(t.Context(), visit("d", "a", 1, 0))
		synctest.Wait()
		time.Sleep(time.Second)
		l.Close()
		if took := time.Since(began); took != time.Second {
			t.Errorf("closed after %v", took)
		}
	})
}

// Many domains wait for their delay. None of them needs a goroutine meanwhile, and a visit that arrives
// meanwhile waits for the delay.
func TestQueueThatWaitsHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, opts := newWeb(), hostqueue.Defaults()
		opts.Jitter = 0
		l := hostqueue.New(opts, w)
		l.Start(t.Context(), visit("d", "a", 1, time.Minute))
		time.Sleep(time.Second)
		if n := l.Goroutines(); n != 0 {
			t.Errorf("%d goroutines serve a queue without visits", n)
		}
		l.Start(t.Context(), visit("d", "b", 1, time.Minute))
		time.Sleep(time.Second)
		if n := l.Goroutines(); n != 1 {
			t.Errorf("%d goroutines serve a queue with a visit", n)
		}
		l.Wait()
		if spans := w.log["d"]; len(spans) != 2 || spans[1].start.Sub(spans[0].end) != time.Minute {
			t.Errorf("requests %v, want two with a minute between them", spans)
		}
	})
}

// What servers ask of the domain holds for all its queues, also for one that opens later.
func TestRestSilencesTheDomain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answer = func(v *hostqueue.Visit, _ int) hostqueue.Answer {
			if v.Id == "hears" {
				return hostqueue.Answer{Rest: time.Minute}
			}
			return hostqueue.Answer{}
		}
		opts := hostqueue.Defaults()
		opts.PerDomain = 3
		l := hostqueue.New(opts, w)
		l.Start(t.Context(), visit("d", "hears", 1, time.Second))
		l.Start(t.Context(), visit("d", "waits", 2, 30*time.Second))
		time.Sleep(10 * time.Second)
		l.Start(t.Context(), visit("d", "opens", 1, time.Second))
		l.Wait()
		spans := w.log["d"]
		if len(spans) != 4 {
			t.Fatalf("requests %v, want 4", spans)
		}
		for _, s := range spans[2:] {
			if gap := s.start.Sub(spans[0].end); gap < time.Minute {
				t.Errorf("asked again %v after a rest of a minute", gap)
			}
		}
	})
}

// A host that fails, or asks for no request, is not asked: its requests are skipped, in this visit
// or in all of them, and requests to other hosts are made.
func TestAHostThatFailsIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		var asked []string
		w.answer = func(v *hostqueue.Visit, i int) hostqueue.Answer {
			asked = append(asked, v.Id+" "+strconv.Itoa(i))
			switch {
			case v.Id == "a" && v.Host(i) == "sick.d":
				return hostqueue.Answer{Failed: true}
			case v.Host(i) == "busy.d":
				return hostqueue.Answer{Failed: true, RetryAfter: time.Minute}
			}
			return hostqueue.Answer{}
		}
		hosts := func(id string, hosts ...string) *hostqueue.Visit {
			v := visit("d", id, len(hosts), time.Second)
			for i, host := range hosts {
				v.Requests[i].Target.Url = "https://" + host + "/" + strconv.Itoa(i)
			}
			return v
		}
		l := hostqueue.New(hostqueue.Defaults(), w)
		l.Start(t.Context(), hosts("a", "sick.d", "well.d", "sick.d", "busy.d:8080", "well.d", "busy.d"))
		l.Start(t.Context(), hosts("b", "sick.d", "busy.d", "well.d"))
		time.Sleep(30 * time.Second)
		l.Start(t.Context(), hosts("c", "busy.d"))
		time.Sleep(time.Minute)
		l.Start(t.Context(), hosts("d", "busy.d"))
		l.Wait()
		if want := []string{"a 0", "a 1", "a 3", "a 4", "b 0", "b 2", "d 0"}; !slices.Equal(asked, want) {
			t.Errorf("asked for %v, want %v", asked, want)
		}
		if want := []string{"a 2", "a 5", "b 1", "c 0"}; !slices.Equal(w.skipped, want) {
			t.Errorf("skipped %v, want %v", w.skipped, want)
		}
	})
}

func TestPerDomainQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		opts := hostqueue.Defaults()
		opts.PerDomain = 3
		l := hostqueue.New(opts, w)
		for i := range 9 {
			l.Start(t.Context(), visit("d", strconv.Itoa(i), 2, time.Second))
		}
		l.Wait()
		if w.most != 3 || len(w.finished) != 9 {
			t.Errorf("at most %d at once, %d finished; want 3 and 9", w.most, len(w.finished))
		}
	})
}

// While names are looked up there is no slot for it, whatever hangs; a name that does not
// exist waits for no delay, and none runs after it.
func TestLookUpsHoldNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.lookUp = func(ctx context.Context, v *hostqueue.Visit, i int) (hostqueue.Answer, bool) {
			switch v.Host(i) {
			case "hangs":
				<-ctx.Done()
				return hostqueue.Answer{Stop: true}, false
			case "gone":
				return hostqueue.Answer{Failed: true}, false
			}
			return hostqueue.Answer{}, true
		}
		opts := hostqueue.Defaults()
		opts.Slots, opts.Hanging, opts.Patience = 1, 0, time.Hour
		l := hostqueue.New(opts, w)
		hanging, end := context.WithCancel(t.Context())
		for i := range 20 {
			l.Start(hanging, visitOf("h"+strconv.Itoa(i), "h", time.Second, "http://hangs/"))
		}
		began := time.Now()
		l.Start(t.Context(), visitOf("d", "a", time.Hour, "http://gone/1", "http://gone/2", "http://www.d/", "http://gone/3"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if spans := w.log["d"]; len(spans) != 1 || spans[0].start != began {
			t.Errorf("requests %v, want one at once", spans)
		}
		if !slices.Equal(w.skipped, []string{"a 1", "a 3"}) {
			t.Errorf("skipped %v", w.skipped)
		}
		if w.finished["a"] != 4 || l.Open() != 0 || len(w.ahead) != 21 {
			t.Errorf("finished %v, %d slots in use, %d visits looked up ahead", w.finished, l.Open(), len(w.ahead))
		}
		end()
		l.Close()
	})
}

// What was looked up before a long wait is looked up again after it, before the slot.
func TestLookUpAfterTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		waited := false
		w.gate = func(context.Context) error { waited = true; return nil }
		w.lookUp = func(context.Context, *hostqueue.Visit, int) (hostqueue.Answer, bool) {
			return hostqueue.Answer{}, !waited
		}
		l := hostqueue.New(hostqueue.Defaults(), w)
		l.Start(t.Context(), visit("d", "a", 1, 0))
		l.Wait()
		if len(w.log) != 0 || w.finished["a"] != 1 {
			t.Errorf("requests %v, finished %v", w.log, w.finished)
		}
	})
}

func visitOf(domain, id string, delay time.Duration, urls ...string) *hostqueue.Visit {
	v := visit(domain, id, 0, delay)
	for _, url := range urls {
		v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: url}})
	}
	return v
}
