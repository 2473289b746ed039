package fetch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// What keeps a request from being written, and what keeps its visit waiting.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		name           string
		gate           Gate
		permits, opens bool
	}{
		{"nothing is in the way", Gate{Leased: true}, true, true},
		{"no lease", Gate{}, false, false},
		{"the stage ends", Gate{Leased: true, Draining: true}, false, false},
		{"parse is behind", Gate{Leased: true, Full: true}, true, false},
		{"the disk is full", Gate{Leased: true, Low: true}, true, false},
		{"paused: the visit is given back", Gate{Leased: true, Paused: true}, false, true},
		{"blocked: it is given back too", Gate{Leased: true, Blocked: true, Full: true}, false, true},
		{"and whatever else there is", Gate{Paused: true, Full: true, Low: true}, false, true},
	} {
		if c.gate.Permits() != c.permits || c.gate.Opens() != c.opens {
			t.Errorf("%s: permits %v, opens %v", c.name, c.gate.Permits(), c.gate.Opens())
		}
	}
}

// Requests in flight land, and none begins any more. A request that takes too long is cut
// off, and the cause says so.
func TestInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newInFlight()
		landed := func() bool {
			synctest.Wait()
			select {
			case <-f.landed:
				return true
			default:
				return false
			}
		}
		first, _ := f.begin(t.Context(), nil, 0)
		second, _ := f.begin(t.Context(), nil, 0)
		first.end()
		if landed() {
			t.Error("landed before it was closed")
		}
		f.close()
		f.close()
		if _, ok := f.begin(t.Context(), nil, 0); ok || landed() || !f.isClosed() {
			t.Error("a request began, or the last one is forgotten")
		}
		f.cut()
		synctest.Wait()
		if !errors.Is(context.Cause(second.within), httpclient.ErrLeaseLost) {
			t.Errorf("cut off because of %v", context.Cause(second.within))
		}
		second.landed()
		if !landed() {
			t.Error("not landed")
		}
	})
}

// slotless counts no slots.
type slotless struct{ stage.NoMeter }

func (slotless) Slots(int) {}

// slowServer answers when it is told to, or not at all.
type slowServer struct {
	known
	begun, answer chan struct{}
}

func (s slowServer) Do(ctx context.Context, r httpclient.Request) *httpclient.Exchange {
	x := &httpclient.Exchange{URL: r.URL, Started: time.UnixMilli(1000), RequestHeaders: []httpclient.Header{{Name: "Host", Value: "a.test"}}}
	close(s.begun)
	select {
	case <-s.answer:
		x.Status = 200
	case <-ctx.Done():
		x.Class, x.Total = httpclient.ClassLeaseLost, time.Second
	}
	return x
}

// A request that is cut off when its partition goes to another fetcher is in the
// report of its visit, as what it is.
func TestCutOffIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := lease.New(time.Hour, lease.BootTime)
		right.Extend(0)
		p := &partition{visits: newReleasedVisits(t.Context(), "scheduled", 0, 0, time.Time{}), inFlight: newInFlight()}
		server := slowServer{begun: make(chan struct{}), answer: make(chan struct{})}
		q := &requester{
			env: stage.Env{Meter: slotless{}}, http: server, lease: right, partitions: new(partitions), witness: newWitness(stage.Env{}, 1),
			backlog: newBackpressure(nil, stage.Env{}, Options{BacklogBytes: 1}), reporter: new(reporter),
		}
		q.partitions.put(3, p)
		visit, drop := context.WithCancel(p.visits.ctx)
		v := &hostqueue.Visit{Domain: "a.test", Partition: 3, Visit: &weftpb.Visit{Id: "v", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://a.test/"}}}}}
		over := make(chan hostqueue.Answer)
		go func() { over <- q.Request(visit, v, 0) }()
		<-server.begun
		p.inFlight.close()
		p.inFlight.cut()
		<-p.inFlight.landed
		part := q.reporter.of(visit, v).report.Flush(time.Now())
		if len(part.GetOutcomes()) != 1 || part.Done {
			t.Fatalf("reported %v", part)
		}
		if o := part.Outcomes[0]; !o.Skipped || o.StartedMs != 1000 || o.TotalUs != 1e6 || o.ErrorClass != string(httpclient.ClassLeaseLost) {
			t.Errorf("reported as %v", o)
		}
		select {
		case <-over:
			t.Error("the visit went on")
		default:
		}
		drop()
		if answer := <-over; !answer.Stop {
			t.Error("the visit goes on")
		}
	})
}

// A request has the priority of its URL, unless people ask for another one for its domain.
func TestPriority(t *testing.T) {
	q := &requester{env: stage.Env{Settings: stage.NewSettings(map[string]topics.Setting{
		"high.test": {Domain: "high.test", Priority: topics.HighPriority}, "low.test": {Domain: "low.test", Priority: topics.LowPriority},
		"slow.test": {Domain: "slow.test", PerDay: 5},
	})}}
	for domain, want := range map[string][]int{"a.test": {0, 2, 3, 3}, "slow.test": {0, 2, 3, 3}, "high.test": {0, 0, 0, 0}, "low.test": {3, 3, 3, 3}} {
		v := &hostqueue.Visit{Domain: domain, Visit: &weftpb.Visit{}}
		for i, own := range []uint32{0, 2, 3, 9} {
			v.Requests = append(v.Requests, &weftpb.Request{Priority: own})
			if p := q.Priority(v, i); p != want[i] {
				t.Errorf("%s: %d becomes %d, want %d", domain, own, p, want[i])
			}
		}
	}
}

// wild makes exchanges that panic.
type wild struct{ known }

func (wild) Do(context.Context, httpclient.Request) *httpclient.Exchange { panic("what a bug \xff") }
func (wild) Robots(context.Context, httpclient.Request, httpclient.Hop) []*httpclient.Exchange {
	panic("what a bug")
}

func TestPanicOfAnExchangeIsItsOutcome(t *testing.T) {
	h := takeOver(t)
	meter := &stagetest.Counter{Reasons: map[string]int{}}
	log := new(stagetest.SafeBuffer)
	h.with(wild{}, func(env *stage.Env) { env.Meter, env.Logger = meter, slog.New(slog.NewTextHandler(log, nil)) })
	v := &hostqueue.Visit{Domain: "x.example", Visit: &weftpb.Visit{
		Id: "v", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/a"}}},
	}}
	if answer := h.requester.Request(t.Context(), v, 0); answer.Stop {
		t.Error("the visit ends")
	}
	robots := &hostqueue.Visit{Domain: "x.example", Visit: &weftpb.Visit{
		Id: "r", Robots: true, Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/robots.txt"}}},
	}}
	h.requester.Request(t.Context(), robots, 0)
	if err := h.fetched.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.requester.Finish(t.Context(), v, 1)
	h.requester.Finish(t.Context(), robots, 1)
	outcomes := map[string]*weftpb.Outcome{}
	for _, reported := range h.reportedNow() {
		for _, o := range reported.Outcomes {
			outcomes[reported.Visit] = o
		}
	}
	for _, id := range []string{"v", "r"} {
		if o := outcomes[id]; o.GetErrorClass() != "panic" || !strings.HasPrefix(o.GetError(), "what a bug") {
			t.Errorf("outcome of %s: %v", id, o)
		}
	}
	if !strings.Contains(log.String(), "requester_test.go") {
		t.Errorf("the log does not say where it was:\n%s", log)
	}
}

// watched counts violations.
type watched struct {
	stagetest.Counter
	violations []politeness.Violation
}

func (w *watched) PolitenessViolation(v politeness.Violation) { w.violations = append(w.violations, v) }

// curt makes exchanges that fail at once.
type curt struct{ known }

func (curt) Do(context.Context, httpclient.Request) *httpclient.Exchange {
	return &httpclient.Exchange{Class: httpclient.ClassConnectRefused}
}

func (curt) Robots(context.Context, httpclient.Request, httpclient.Hop) []*httpclient.Exchange {
	return []*httpclient.Exchange{{Class: httpclient.ClassConnectRefused}}
}

// Two requests of a domain that no host queue has delayed are noticed.
func TestPolitenessViolationIsCounted(t *testing.T) {
	h := takeOver(t)
	meter := &watched{}
	h.with(curt{}, func(env *stage.Env) { env.Meter, env.Logger = meter, slog.New(slog.DiscardHandler) })
	request := func(id string) {
		h.requester.Request(t.Context(), &hostqueue.Visit{Domain: "x.example", Visit: &weftpb.Visit{
			Id: id, DelayMs: uint32(time.Hour.Milliseconds()), Robots: true,
			Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/robots.txt"}}},
		}}, 0)
	}
	request("first")
	if len(meter.violations) > 0 {
		t.Errorf("the first request: %q", meter.violations)
	}
	request("second")
	if len(meter.violations) != 1 || meter.violations[0] != politeness.Early {
		t.Errorf("the second request: %q, want %q", meter.violations, politeness.Early)
	}
}

// A paused fetch gives its visits back, and makes no request.
func TestPausedFetchGivesVisitsBack(t *testing.T) {
	h := takeOver(t)
	h.requester.draining.Store(false)
	client, err := httpclient.New(httpclient.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	h.with(client, func(env *stage.Env) {
		env.Pauses, env.Meter = stage.NewPauses(stagetest.Paused(topics.Fetch)), &stagetest.Counter{}
	})
	h.settle()
	h.fold()
	h.complete()
	reported := map[string]*weftpb.Visited{}
	for len(reported) < 2 {
		for _, v := range h.reportedNow() {
			reported[v.Visit] = v
		}
		if t.Context().Err() != nil {
			t.Fatal("the visits are not given back")
		}
	}
	for id, v := range reported {
		if !v.Done || len(v.Outcomes) != 3 {
			t.Errorf("report of %s: %v", id, v)
		}
		for _, o := range v.Outcomes {
			if !o.Skipped {
				t.Errorf("outcome of %s: %v", id, o)
			}
		}
	}
}
