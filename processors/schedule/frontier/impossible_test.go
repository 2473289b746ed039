package frontier

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/test/memstore"
)

func allowAll(*weftpb.Robots, string) bool { return true }

func testOptions() Options {
	opts := DefaultOptions()
	opts.Allowed = allowAll
	return opts
}

// inFlight returns a frontier with one page of a.example out under 0-1-0 and
// one queued.
func inFlight(t testing.TB) (*Frontier, *memstore.Store, Moment) {
	t.Helper()
	store := &memstore.Store{}
	f := New(testOptions(), store)
	at := Moment{Now: epoch}
	apply := func(ev *weftpb.Scheduled, err error) {
		if err == nil {
			err = f.Apply("a.example", ev, at.Offset)
		}
		if err != nil {
			t.Fatal(err)
		}
		at.Offset++
	}
	apply(f.Admit("a.example", []*weftpb.Target{{Url: "https://a.example/"}}, at))
	apply(f.Settle("a.example", &weftpb.Visited{
		Visit: "0-0-0", Done: true, Rules: &weftpb.OriginRules{Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL}},
	}, at))
	apply(f.Admit("a.example", []*weftpb.Target{{Url: "https://a.example/2"}}, at))
	return f, store, at
}

// TestImpossibleEvents checks that an event that does not follow is refused.
func TestImpossibleEvents(t *testing.T) {
	tests := []struct {
		name   string
		change func(ev *weftpb.Scheduled)
		offset int64
		want   string
	}{
		{"no timing", func(ev *weftpb.Scheduled) { ev.Timing = nil }, 0, "no timing"},
		{"gauges", func(ev *weftpb.Scheduled) { ev.Gauges.Queued++ }, 0, "the event says"},
		{"other offset", func(*weftpb.Scheduled) {}, 1, "is released at offset 4"},
		{"settled twice", func(ev *weftpb.Scheduled) {
			ev.Settled = append(ev.Settled, ev.Settled[0])
		}, 0, "is not out"},
		{"no such request", func(ev *weftpb.Scheduled) { ev.Settled[0].Index = 31 }, 0, "settled twice"},
		{"other partition", func(ev *weftpb.Scheduled) { ev.Settled[0].Visit = "7-1-0" }, 0, "not a visit of partition 0"},
		{"nothing queued", func(ev *weftpb.Scheduled) {
			ev.Released[0].Requests[0].Priority = 3
		}, 0, "leaves queue 3 of https://a.example, which is empty"},
		{"no such queue", func(ev *weftpb.Scheduled) {
			ev.Released[0].Requests[0].Priority = 4
		}, 0, "a queue that does not exist"},
		{"nothing to retry", func(ev *weftpb.Scheduled) {
			ev.Released[0].Requests[0].Again = true
		}, 0, "leaves the retries of https://a.example, which are empty"},
		{"empty visit", func(ev *weftpb.Scheduled) { ev.Released[0].Requests = nil }, 0, "of 0 requests"},
		{"empty URL", func(ev *weftpb.Scheduled) {
			ev.Admitted = []*weftpb.Admission{{Request: &weftpb.Request{}}}
		}, 0, "admission of"},
		{"rules of nobody", func(ev *weftpb.Scheduled) {
			ev.Rules = []*weftpb.OriginRules{{Origin: "https://b.example"}}
		}, 0, "was not asked"},
		{"forgotten", func(ev *weftpb.Scheduled) {
			ev.Released = nil
			ev.Gauges.Queued, ev.Gauges.Out, ev.Gauges.Visits, ev.Gauges.DomainsOut = 1, 0, 0, 0
		}, 0, "neither out nor due"},
		{"due without reason", func(ev *weftpb.Scheduled) {
			ev.Timing.DueMs = 1
		}, 0, "without queued URLs is due"},
		{"expired twice", func(ev *weftpb.Scheduled) { ev.Expired = []string{"0-1-0", "0-1-0"} }, 0, "is not out"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _, at := inFlight(t)
			ev, err := f.Settle("a.example", &weftpb.Visited{
				Visit: "0-1-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}},
			}, at)
			if err != nil || len(ev.Released) != 1 {
				t.Fatalf("settled: %v, %v", ev, err)
			}
			test.change(ev)
			err = f.Apply("a.example", ev, at.Offset+test.offset)
			if !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an impossible event with %q", err, test.want)
			}
		})
	}
}

// TestDamagedStore checks that a value that cannot be read is never skipped: the
// decision that needs it says so, and so does the fold.
func TestDamagedStore(t *testing.T) {
	v := &weftpb.Visited{Visit: "0-1-0", Done: true, Outcomes: []*weftpb.Outcome{{Status: 200}}}
	f, store, at := inFlight(t)
	ev, err := f.Settle("a.example", v, at)
	if err != nil || len(ev.Released) != 1 {
		t.Fatalf("settled: %v, %v", ev, err)
	}
	for _, key := range store.Keys() {
		switch key[0] {
		case dueKeys[0], dueKeys[1], dueKeys[2], dueKeys[3], leaseKey, releaseKey, countKey:
			continue // no values, or none that decides anything
		}
		damaged := store.Clone()
		damaged.Set([]byte(key), []byte{0xff})
		g := New(testOptions(), damaged)
		if _, err := g.Settle("a.example", v, at); !errors.Is(err, kv.ErrValue) {
			t.Errorf("%q is damaged: decided with %v", key, err)
		}
		if key != "g" && key != string(keysOf("a.example").record()) {
			continue // the fold goes by the event
		}
		if err := g.Apply("a.example", proto.CloneOf(ev), at.Offset); !errors.Is(err, kv.ErrValue) {
			t.Errorf("%q is damaged: folded with %v", key, err)
		}
	}
}

// TestReport checks that a report tells the gauges and that the fold checks it.
func TestReport(t *testing.T) {
	f, store, at := inFlight(t)
	ev, err := f.Report(at)
	if err != nil {
		t.Fatal(err)
	}
	if ev.Gauges.Pending != 2 || ev.Gauges.Visits != 1 || ev.Oldest != 1 || ev.Timing != nil {
		t.Errorf("report %v", ev)
	}
	before := store.Clone()
	if err := f.Apply("", ev, at.Offset); err != nil {
		t.Error(err)
	}
	if key, equal := store.Equal(before); !equal {
		t.Errorf("a report changed %q", key)
	}
	ev.Gauges.Fetched++
	if err := f.Apply("", ev, at.Offset); !errors.Is(err, ErrImpossible) {
		t.Errorf("got %v for other gauges", err)
	}
}

// TestEventSize holds the largest events under 512 KiB.
func TestEventSize(t *testing.T) {
	const limit = 512 << 10
	long := func(domain string, i int) string {
		return "https://" + domain + "/" + strings.Repeat("x", 2000) + "/" + strings.Repeat("y", i%10)
	}
	for _, test := range []struct {
		name   string
		rules  *weftpb.Robots
		denied bool
		per    int
	}{
		{"large rules", &weftpb.Robots{Access: weftpb.Robots_ACCESS_RULES, Rules: strings.Repeat("Disallow: /x\n", 60_000)}, false, 1},
		{"refusals", &weftpb.Robots{Access: weftpb.Robots_ACCESS_RULES, Rules: "Disallow: /\n"}, true, 1},
		{"many visits", &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL}, false, maxPerDomain},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts := testOptions()
			opts.Delay, opts.PerDomain = 0, test.per
			opts.Allowed = func(*weftpb.Robots, string) bool { return !test.denied }
			f := New(opts, &memstore.Store{})
			at := Moment{Now: epoch}
			largest := 0
			apply := func(ev *weftpb.Scheduled, err error) {
				if err == nil {
					err = f.Apply("a.example", ev, at.Offset)
				}
				if err != nil {
					t.Fatal(err)
				}
				largest = max(largest, proto.Size(ev))
				at.Offset++
			}
			for range 40 { // records of 64 KiB
				var targets []*weftpb.Target
				for i := range 31 {
					targets = append(targets, &weftpb.Target{Url: long("a.example", i), Depth: 1})
				}
				apply(f.Admit("a.example", targets, at))
			}
			apply(f.Settle("a.example", &weftpb.Visited{Visit: "0-0-0", Done: true, Rules: &weftpb.OriginRules{Robots: test.rules}}, at))
			at.Now = at.Now.Add(time.Minute)
			for _, domain := range f.Due(at, 10) {
				apply(f.Tick(domain, at))
			}
			t.Logf("largest event: %d bytes", largest)
			if largest > limit || largest < 60<<10 {
				t.Errorf("largest event has %d bytes, limit %d", largest, limit)
			}
		})
	}
}
