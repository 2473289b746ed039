package frontier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/test/memstore"
)

// TestRulesHoldOn requests a robots.txt that was fetched once and cannot be fetched any more,
// for longer than the rules may be used: first everything is forbidden, then the rules hold an
// hour at a time, and after 30 days URLs are refused.
func TestRulesHoldOn(t *testing.T) {
	opts := DefaultOptions()
	opts.Allowed = func(_ *weftpb.Robots, url string) bool { return !strings.HasPrefix(url, "http://a.com/private") }
	l := &timeline{t: t, store: &memstore.Store{}}
	l.f = New(opts, l.store)
	now := epoch
	fold := func(ev *weftpb.Scheduled, err error) *weftpb.Scheduled {
		if err != nil || ev == nil {
			t.Fatalf("at %v: %v, %v", now.Sub(epoch), ev, err)
		}
		if err := l.f.Apply("a.com", ev, l.offset); err != nil {
			t.Fatal(err)
		}
		l.offset++
		return ev
	}
	// wanted admits a URL and returns what is decided on it; robots.txt, when it
	// is asked for, answers with a word.
	n := 0
	wanted := func(url, robots string) *weftpb.Scheduled {
		n++
		ev := fold(l.f.Admit("a.com", targets([]string{fmt.Sprintf("http://a.com/%s", url)}), Moment{Now: now, Offset: l.offset}))
		for len(ev.Released) > 0 {
			v := ev.Released[0]
			if !v.Robots {
				now = now.Add(2 * time.Second)
				fold(l.f.Settle("a.com", l.visited(v.Id, []string{"0:200"}), Moment{Now: now, Offset: l.offset}))
				return ev
			}
			ev = fold(l.f.Settle("a.com", l.robots(v.Id, []string{robots}), Moment{Now: now, Offset: l.offset}))
			for len(ev.Released) == 0 && l.state().State == Due { // whatever is put off comes in its time
				now = l.state().DueAt
				ev = fold(l.f.Tick("a.com", Moment{Now: now, Offset: l.offset}))
				if len(ev.Settled) > 0 {
					return ev
				}
			}
		}
		return ev
	}
	if ev := wanted("1", "rules"); len(ev.Released) != 1 {
		t.Fatalf("nothing is released under rules: %v", ev)
	}
	now = epoch.Add(25 * time.Hour)
	began := now
	if ev := wanted("2", "503"); len(ev.Released) != 1 {
		t.Fatalf("what was had does not hold on: %v", ev)
	}
	if forbidden := now.Sub(began); forbidden < time.Hour {
		t.Errorf("everything was forbidden for %v only", forbidden)
	}
	if ev := wanted("private", "503"); len(ev.Settled) != 1 || ev.Settled[0].Reason != ReasonDisallowed {
		t.Errorf("the rules that hold on forbid it: %v", ev)
	}
	l.f.opts.Unheld = func(*weftpb.Robots) bool { return true }
	if ev := wanted("private/2", "503"); len(ev.Settled) != 1 || ev.Settled[0].Reason != ReasonTooManyRules {
		t.Errorf("rules that could not be held forbid it: %v", ev)
	}
	l.f.opts.Unheld = nil
	if s := l.origin(now); s.Standing != InForce || !s.Kept || !s.EndAt.After(now) {
		t.Errorf("the origin is %+v", s)
	}
	now = now.Add(politeness.RefusedFor)
	if ev := wanted("3", "503"); len(ev.Released) != 1 {
		t.Errorf("they do not hold on for the next hour: %v", ev)
	}
	now = epoch.Add(maxKept + time.Hour)
	if ev := wanted("4", "503"); len(ev.Settled) == 0 || ev.Settled[len(ev.Settled)-1].Reason != ReasonUnreachable {
		t.Errorf("rules that are 30 days old hold on: %v", ev)
	}
	now = now.Add(politeness.RefusedFor)
	if ev := wanted("5", "allow"); len(ev.Released) != 1 {
		t.Errorf("robots.txt is had again, and nothing is released: %v", ev)
	}
}

// Under another User-Agent rules do not hold that were fetched before: robots.txt may have others for it.
func TestRulesAreForOneAgent(t *testing.T) {
	r := newRefreshed(t)
	r.answer("h.example", r.ask(&weftpb.Target{Url: "http://h.example/1"}), &weftpb.Outcome{Status: 200})
	r.now = r.now.Add(time.Hour)
	r.f.opts.AgentSinceMS = r.now.UnixMilli()
	released := func(url string) *weftpb.Visit {
		ev, err := r.f.Admit("h.example", []*weftpb.Target{{Url: url}}, r.at())
		visits := r.apply("h.example", ev, err).Released
		if len(visits) != 1 {
			t.Fatalf("out are %v", visits)
		}
		return visits[0]
	}
	v := released("http://h.example/2")
	if !v.Robots {
		t.Fatalf("out is %v, and robots.txt was fetched for another agent", v)
	}
	_, visits := r.answer("h.example", v, &weftpb.Outcome{Status: 404})
	r.answer("h.example", visits[0], &weftpb.Outcome{Status: 200})
	r.now = r.now.Add(time.Hour)
	if v := released("http://h.example/3"); v.Robots {
		t.Errorf("robots.txt is fetched again: %v", v)
	}
	if o := (&origin{fetchedMS: 1000, kept: true, retryMS: 9000}); o.standing(2000, 1001) == InForce || o.keepable(2000, 1001) || !o.keepable(2000, 1000) {
		t.Error("rules for another agent are kept while robots.txt cannot be fetched")
	}
}

func (l *timeline) state() DomainState {
	s, err := l.f.DomainState("a.com")
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

func (l *timeline) origin(now time.Time) OriginState {
	all, err := l.f.Origins("a.com", now)
	if err != nil || len(all) != 1 {
		l.t.Fatalf("origins %v: %v", all, err)
	}
	return all[0]
}
