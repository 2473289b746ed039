package processors

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/politeness"
)

// watched counts violations.
type watched struct {
	counted
	violations []politeness.Violation
}

func (w *watched) Hurried(v politeness.Violation) { w.violations = append(w.violations, v) }

// curt makes exchanges that fail at once.
type curt struct{}

func (curt) Do(context.Context, fetch.Request) *fetch.Exchange {
	return &fetch.Exchange{Class: fetch.ClassConnectRefused}
}

func (curt) Robots(context.Context, string, func() bool, func(string) bool) []*fetch.Exchange {
	return []*fetch.Exchange{{Class: fetch.ClassConnectRefused}}
}

// Two requests of a domain that no lane has paced are noticed.
func TestHurriedRequestIsCounted(t *testing.T) {
	h := takeOver(t)
	meter := &watched{}
	h.env.Meter, h.env.Logger, h.http = meter, slog.New(slog.DiscardHandler), curt{}
	request := func(id string) {
		h.asking.Request(t.Context(), &lanes.Visit{Domain: "x.example", Visit: &weftpb.Visit{
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

// A breaker counts when it opens, and not for as long as it is open.
func TestBreakerCountsWhenItOpens(t *testing.T) {
	opts := frontier.DefaultOptions()
	opts.Allowed = func(*weftpb.Robots, string) bool { return true }
	opened, offset, now := 0, int64(0), time.Unix(1e9, 0)
	q := &queues{
		frontier: frontier.New(opts, new(memstore.Store)), hold: new(atomic.Bool),
		clock: func() time.Time { return now }, tripped: func() { opened++ },
	}
	apply := func(body []byte, err error) (visits []*weftpb.Visit) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if body == nil {
			return nil
		}
		var event weftpb.Scheduled
		if err := proto.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if err := q.Apply("x.example", body, offset); err != nil {
			t.Fatal(err)
		}
		offset++
		return event.Released
	}
	var targets []*weftpb.Target // of several origins: one is given up before its domain's breaker opens
	for _, host := range []string{"a", "b", "c", "d"} {
		targets = append(targets, &weftpb.Target{Url: "http://" + host + ".x.example/"})
	}
	deduped, err := proto.Marshal(&weftpb.Deduped{Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	visits := apply(admit(q, ledger.Record{Key: "x.example", Value: deduped}, now, offset))
	for failures := 1; failures <= int(opts.BreakerFailures)+2; failures++ {
		for i := 0; len(visits) == 0; i++ {
			if i == 1000 {
				t.Fatalf("nothing is released after %d failures", failures-1)
			}
			now = now.Add(time.Minute)
			visits = apply(scheduled(q.frontier.Tick("x.example", q.moment(now, offset))))
		}
		visited, err := proto.Marshal(&weftpb.Visited{Visit: visits[0].Id, Done: true, Outcomes: []*weftpb.Outcome{
			{ErrorClass: string(fetch.ClassConnectRefused)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		visits = apply(settle(q, ledger.Record{Key: "x.example", Value: visited}, now, offset))
		want := 0
		if failures >= int(opts.BreakerFailures) {
			want = 1
		}
		if opened != want {
			t.Errorf("after %d failures %d breakers opened, want %d", failures, opened, want)
		}
	}
}
