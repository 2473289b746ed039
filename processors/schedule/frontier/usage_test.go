package frontier

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/robots"
	"github.com/weftcrawl/weft/test/memstore"
)

// TestUsageTravelsWithRequests checks that what a robots.txt says about the use of a page is in the
// request for it, from the rules that are in force when it is released.
func TestUsageTravelsWithRequests(t *testing.T) {
	opts := DefaultOptions()
	opts.Allowed, opts.Usage = robots.Judge(), robots.Usage
	l := &timeline{t: t, store: &memstore.Store{}}
	l.f = New(opts, l.store)
	now := epoch
	fold := func(ev *weftpb.Scheduled, err error) *weftpb.Scheduled {
		t.Helper()
		if err != nil || ev == nil {
			t.Fatalf("%v, %v", ev, err)
		}
		if err := l.f.Apply("a.com", ev, l.offset); err != nil {
			t.Fatal(err)
		}
		l.offset++
		return ev
	}
	ev := fold(l.f.Admit("a.com", targets([]string{"http://a.com/1", "http://a.com/free/2"}), Moment{Now: now, Offset: l.offset}))
	if len(ev.Released) != 1 || !ev.Released[0].Robots {
		t.Fatalf("robots.txt is not asked for: %v", ev.Released)
	}
	rules := robots.Parse(200, []byte("User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /free train-ai=y\n"), "weft")
	ev = fold(l.f.Settle("a.com", &weftpb.Visited{
		Visit: ev.Released[0].Id, Done: true, Outcomes: []*weftpb.Outcome{{Status: 200, StartedMs: now.UnixMilli()}},
		Rules: &weftpb.OriginRules{Origin: "http://a.com", Robots: rules},
	}, Moment{Now: now, Offset: l.offset}))
	for len(ev.Released) == 0 {
		now = now.Add(time.Second)
		ev = fold(l.f.Tick("a.com", Moment{Now: now, Offset: l.offset}))
	}
	said := map[string]string{}
	for _, q := range ev.Released[0].Requests {
		said[q.Target.Url] = q.Usage
	}
	if len(said) != 2 || said["http://a.com/1"] != "content-usage: train-ai=n\n" || said["http://a.com/free/2"] != "content-usage: train-ai=y\n" {
		t.Errorf("requests say %q", said)
	}
}
