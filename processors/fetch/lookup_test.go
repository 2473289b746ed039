package fetch

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/test/stagetest"
)

// known is an exchanger that knows every host.
type known struct{ Exchanger }

func (known) LookUp(context.Context, string) (netip.Addr, *httpclient.Exchange) {
	return netip.Addr{}, nil
}
func (known) LookAhead(context.Context, []string) {}

// nameless is an exchanger that finds no host after a while, and notes what it looks up
// ahead.
type nameless struct {
	Exchanger
	class httpclient.Class
	after time.Duration
	ahead *[]string
}

func (n nameless) LookUp(_ context.Context, url string) (netip.Addr, *httpclient.Exchange) {
	time.Sleep(n.after)
	return netip.Addr{}, &httpclient.Exchange{URL: url, Class: n.class, Error: "no such host", Started: time.Now()}
}

func (n nameless) LookAhead(_ context.Context, urls []string) { *n.ahead = append(*n.ahead, urls...) }

// A failed look-up is the outcome of its request, whatever the request is for, and needs
// the right to make it.
func TestFailedLookUpIsTheOutcome(t *testing.T) {
	for _, c := range []struct {
		name      string
		visit     *weftpb.Visit
		class     httpclient.Class
		forbidden bool
		fetched   int // records
		answer    hostqueue.Answer
	}{
		{"of a page", &weftpb.Visit{}, httpclient.ClassDNSNotFound, false, 1, hostqueue.Answer{Failed: true, Unreached: true}},
		{"of a page, for now", &weftpb.Visit{}, httpclient.ClassDNSError, false, 1, hostqueue.Answer{Failed: true, Unreached: true}},
		{"of a robots.txt", &weftpb.Visit{Robots: true}, httpclient.ClassDNSNotFound, false, 0, hostqueue.Answer{Failed: true, Unreached: true}},
		{"of a check", &weftpb.Visit{Check: true}, httpclient.ClassDNSError, false, 0, hostqueue.Answer{Failed: true, Unreached: true}},
		{"without the lease", &weftpb.Visit{}, httpclient.ClassDNSNotFound, true, 0, hostqueue.Answer{Stop: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := takeOver(t)
			h.requester.draining.Store(c.forbidden)
			h.requester.lease = lease.New(time.Hour, lease.BootTime)
			h.requester.lease.Extend(0)
			meter := &watched{Counter: stagetest.Counter{Reasons: map[string]int{}}}
			h.with(nameless{class: c.class, after: 2 * time.Millisecond}, func(env *stage.Env) { env.Meter = meter })
			v := &hostqueue.Visit{Domain: "x.example", Visit: c.visit}
			v.Id, v.DelayMs, v.Requests = "v", 3_600_000, []*weftpb.Request{{Target: &weftpb.Target{Url: "http://gone.x.example/robots.txt"}}}
			for range 2 { // the second request keeps the delay
				answer, found := h.requester.LookUp(t.Context(), v, 0)
				if found || answer != c.answer {
					t.Errorf("found %v, answer %+v, want %+v", found, answer, c.answer)
				}
			}
			if len(meter.violations) > 0 || v.LookedUp != 0 {
				t.Errorf("violations %q, %v left", meter.violations, v.LookedUp)
			}
			if err := h.fetched.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.requester.Finish(t.Context(), v, 1)
			records := 0
			h.from(h.env.Names.Fetched, 0, func(r *kgo.Record) error {
				var f weftpb.Fetched
				records++
				return proto.Unmarshal(r.Value, &f)
			})
			if records != 2*c.fetched {
				t.Errorf("%d records of fetched, want %d", records, 2*c.fetched)
			}
			reported := h.reportedNow()
			last := reported[len(reported)-1]
			if len(reported) != 1 || len(last.Outcomes) != 2 || !last.Done || (last.Rules != nil) != c.visit.Robots {
				t.Fatalf("reported %v", reported)
			}
			for _, o := range last.Outcomes {
				if o.Skipped != c.forbidden || !c.forbidden && (o.ErrorClass != string(c.class) || o.DnsUs < 2000 || o.ConnectUs != 0) {
					t.Errorf("outcome %v", o)
				}
			}
		})
	}
}

// answering takes its time for each exchange's look-ups.
type answering struct{ known }

func (answering) Do(_ context.Context, r httpclient.Request) *httpclient.Exchange {
	return &httpclient.Exchange{URL: r.URL, Status: 200, Started: time.Now(), DNS: time.Second + r.LookedUp, Connect: 2 * time.Second}
}

func (a answering) Robots(ctx context.Context, r httpclient.Request, _ httpclient.Hop) []*httpclient.Exchange {
	return []*httpclient.Exchange{a.Do(ctx, r)}
}

// stopwatch keeps the times of the last exchange.
type stopwatch struct {
	stagetest.Counter
	dns, connect time.Duration
}

func (s *stopwatch) Connected(dns, connect time.Duration) { s.dns, s.connect = dns, connect }

// The time that a request waited for look-ups is in its outcome, and only in that.
func TestWaitForLookUpIsInTheOutcome(t *testing.T) {
	for _, robots := range []bool{false, true} {
		h := takeOver(t)
		meter := &stopwatch{Counter: stagetest.Counter{Reasons: map[string]int{}}}
		h.with(answering{}, func(env *stage.Env) { env.Meter = meter })
		v := &hostqueue.Visit{Domain: "x.example", LookedUp: 3 * time.Second, Visit: &weftpb.Visit{Id: "v", Robots: robots}}
		for range 2 {
			v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: "http://x.example/robots.txt"}})
		}
		for i, want := range []int64{4_000_000, 1_000_000} {
			h.requester.Request(t.Context(), v, i)
			if err := h.fetched.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.reporter.flush(func(int32) bool { return true })
			reported := h.reportedNow()
			if o := reported[len(reported)-1].Outcomes; len(o) != 1 || o[0].DnsUs != want {
				t.Errorf("robots %v, outcome %d: %v, want %d", robots, i, o, want)
			}
			if meter.dns.Microseconds() != want || meter.connect != 2*time.Second {
				t.Errorf("counted as %v and %v", meter.dns, meter.connect)
			}
		}
	}
}

// The hosts of all requests that are still to be made are looked up ahead.
func TestHostsOfAVisitAreLookedUpAhead(t *testing.T) {
	var ahead []string
	q := &requester{http: nameless{ahead: &ahead}}
	v := &hostqueue.Visit{Visit: &weftpb.Visit{}, Settled: map[uint32]bool{1: true}}
	for _, url := range []string{"http://a.x.example/", "http://b.x.example/", "http://c.x.example/"} {
		v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: url}})
	}
	q.LookAhead(t.Context(), v)
	if len(ahead) != 2 || ahead[0] != "http://a.x.example/" || ahead[1] != "http://c.x.example/" {
		t.Errorf("looked up ahead: %v", ahead)
	}
}
