package frontier

import (
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/memstore"
)

// refreshed is a partition on a clock, with a twin that folds every event again: the fold
// alone must come to the same store.
type refreshed struct {
	t      *testing.T
	f      *Frontier
	store  memstore.Store
	twin   *Frontier
	copy   memstore.Store
	now    time.Time
	offset int64
}

func newRefreshed(t *testing.T) *refreshed {
	r := &refreshed{t: t, now: epoch}
	opts := testOptions()
	r.f = New(opts, &r.store)
	opts.SitemapRefresh = time.Minute // the fold does not depend on it
	r.twin = New(opts, &r.copy)
	return r
}

func (r *refreshed) at() Moment { return Moment{Now: r.now, Offset: r.offset} }

func (r *refreshed) apply(domain string, ev *weftpb.Scheduled, err error) *weftpb.Scheduled {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	if ev == nil {
		return &weftpb.Scheduled{}
	}
	for _, f := range []*Frontier{r.f, r.twin} {
		if err := f.Apply(domain, ev, r.offset); err != nil {
			r.t.Fatal(err)
		}
	}
	if key, ok := r.store.Equal(&r.copy); !ok {
		r.t.Fatalf("the fold of the same events differs at %q", key)
	}
	r.offset++
	return ev
}

// tick returns what goes out of a domain when Due names it.
func (r *refreshed) tick(domain string) []*weftpb.Visit {
	r.t.Helper()
	for _, name := range r.f.Due(r.at(), 10) {
		if name == domain {
			ev, err := r.f.Tick(domain, r.at())
			return r.apply(domain, ev, err).Released
		}
	}
	return nil
}

// answer settles a visit with one outcome, and returns the settlement and what goes out next.
func (r *refreshed) answer(domain string, v *weftpb.Visit, o *weftpb.Outcome) (*weftpb.Settlement, []*weftpb.Visit) {
	r.t.Helper()
	report := &weftpb.Visited{Visit: v.Id, Done: true, Outcomes: []*weftpb.Outcome{o}}
	if v.Robots {
		origin, _ := originOf(v.Requests[0].Target.Url)
		report.Rules = &weftpb.OriginRules{Origin: origin, Robots: &weftpb.Robots{Access: weftpb.Robots_ACCESS_ALLOW_ALL, Status: 404}}
	}
	o.StartedMs = r.now.UnixMilli()
	ev, err := r.f.Settle(domain, report, r.at())
	ev = r.apply(domain, ev, err)
	return ev.Settled[0], ev.Released
}

// ask admits a URL and returns the visit that asks for it, after robots.txt.
func (r *refreshed) ask(t *weftpb.Target) *weftpb.Visit {
	r.t.Helper()
	const domain = "h.example"
	ev, err := r.f.Admit(domain, []*weftpb.Target{t}, r.at())
	visits := r.apply(domain, ev, err).Released
	if len(visits) == 1 && visits[0].Robots {
		_, visits = r.answer(domain, visits[0], &weftpb.Outcome{Status: 404})
	}
	if len(visits) != 1 || visits[0].Requests[0].Target.Url != t.Url {
		r.t.Fatalf("out are %v", visits)
	}
	return visits[0]
}

// A sitemap comes back after a day, conditional, in its next round. Until then the
// partition is drained.
func TestSitemapComesBack(t *testing.T) {
	const domain = "h.example"
	r := newRefreshed(t)
	v := r.ask(&weftpb.Target{Url: "http://h.example/sitemap.xml", Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: &weftpb.Sitemap{Level: 1, Host: "h.example"}})
	r.answer(domain, v, &weftpb.Outcome{Status: 200, Etag: `"one"`, LastModified: "Mon, 02 Jan 2026 00:00:00 GMT", MediaType: "application/xml"})
	for round := uint32(1); round <= 3; round++ {
		if g, _ := r.f.Gauges(); g.Pending != 0 || g.Domains != 0 {
			t.Fatalf("pending before its time: %v", g)
		}
		r.now = r.now.Add(24*time.Hour - time.Minute)
		if visits := r.tick(domain); visits != nil {
			t.Fatalf("out before its time: %v", visits)
		}
		r.now = r.now.Add(2 * time.Minute)
		visits := r.tick(domain)
		if len(visits) == 1 && visits[0].Robots { // its rules hold for a day as well
			_, visits = r.answer(domain, visits[0], &weftpb.Outcome{Status: 404})
		}
		if len(visits) != 1 {
			t.Fatalf("round %d: out are %v", round, visits)
		}
		q := visits[0].Requests[0]
		if q.Round != round || q.Etag != `"one"` || !strings.HasPrefix(q.LastModified, "Mon, 02") || q.Attempt != 0 || q.Target.Sitemap.GetHost() != "h.example" {
			t.Fatalf("round %d asks for %v", round, q)
		}
		// 304 need not repeat what makes it conditional.
		r.answer(domain, visits[0], &weftpb.Outcome{Status: 304})
	}
	if err := checkStore(r.f, &r.store); err != nil {
		t.Fatal(err)
	}
	index, kept := 0, 0
	for _, key := range r.store.Keys() {
		if key[0] == refreshKey {
			index++
		}
		if _, rest, _ := strings.Cut(key, "\x00"); key[0] == domainKey && rest != "" && rest[0] == refreshKind {
			kept++
		}
	}
	if index != 1 || kept != 1 {
		t.Errorf("%d entries of the index and %d URLs are left, want one of each", index, kept)
	}
}

// A crawl that turns sitemaps off asks for none. They come back when it turns sitemaps on again.
func TestNoSitemapComesBack(t *testing.T) {
	r := newRefreshed(t)
	v := r.ask(&weftpb.Target{Url: "http://h.example/s.xml", Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: &weftpb.Sitemap{Level: 1, Host: "h.example"}})
	r.answer("h.example", v, &weftpb.Outcome{Status: 200, MediaType: "application/xml"})
	r.now = r.now.Add(25 * time.Hour)
	on := r.f.opts.SitemapRefresh
	r.f.opts.SitemapRefresh = 0
	if names := r.f.Due(r.at(), 10); len(names) > 0 {
		t.Errorf("due are %v", names)
	}
	if ev, err := r.f.Tick("h.example", r.at()); ev != nil || err != nil {
		t.Errorf("a tick decides %v, %v", ev, err)
	}
	r.f.opts.SitemapRefresh = on
	if visits := r.tick("h.example"); len(visits) != 1 {
		t.Errorf("out are %v", visits)
	}
}

// What comes back, by what was known of the URL and how it ended.
func TestWhatComesBack(t *testing.T) {
	named, guessed := &weftpb.Sitemap{Level: 1, Host: "h.example"}, &weftpb.Sitemap{Level: 1, Host: "h.example", Guessed: true}
	for name, c := range map[string]struct {
		sitemap *weftpb.Sitemap
		outcome *weftpb.Outcome
		want    bool
	}{
		"a sitemap":                            {named, &weftpb.Outcome{Status: 200, MediaType: "text/xml"}, true},
		"a sitemap that is missing today":      {named, &weftpb.Outcome{Status: 404, MediaType: "text/html"}, true},
		"a sitemap that redirects":             {named, &weftpb.Outcome{Status: 301}, false},
		"a guess that is right":                {guessed, &weftpb.Outcome{Status: 200, MediaType: "application/xml"}, true},
		"a guess that is wrong":                {guessed, &weftpb.Outcome{Status: 404}, false},
		"a guess at which there is a page":     {guessed, &weftpb.Outcome{Status: 200, MediaType: "text/html"}, false},
		"a guess that the server does not get": {guessed, &weftpb.Outcome{Status: 410}, false},
		"a page":                               {nil, &weftpb.Outcome{Status: 200, MediaType: "text/xml"}, false},
	} {
		r := newRefreshed(t)
		v := r.ask(&weftpb.Target{Url: "http://h.example/s", Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: c.sitemap})
		if s, _ := r.answer("h.example", v, c.outcome); s.RefreshMs > 0 != c.want {
			t.Errorf("%s: comes back at %d", name, s.RefreshMs)
		}
	}
}

// A guessed sitemap that was there stays one while the server fails, and not when it is gone.
func TestGuessedSitemapFailsForADay(t *testing.T) {
	for name, c := range map[string]struct {
		outcome *weftpb.Outcome
		want    bool
	}{
		"it is refused":   {&weftpb.Outcome{ErrorClass: "tls_certificate"}, true},
		"it is given up":  {&weftpb.Outcome{ErrorClass: "local_error"}, true},
		"it is gone":      {&weftpb.Outcome{Status: 410}, false},
		"it is a page":    {&weftpb.Outcome{Status: 200, MediaType: "text/html"}, false},
		"it is unchanged": {&weftpb.Outcome{Status: 304}, true},
	} {
		r := newRefreshed(t)
		v := r.ask(&weftpb.Target{Url: "http://h.example/sitemap.xml", Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: &weftpb.Sitemap{Level: 1, Host: "h.example", Guessed: true}})
		r.answer("h.example", v, &weftpb.Outcome{Status: 200, MediaType: "application/xml"})
		r.now = r.now.Add(25 * time.Hour)
		visits := r.tick("h.example")
		_, visits = r.answer("h.example", visits[0], &weftpb.Outcome{Status: 404}) // robots.txt
		s, _ := r.answer("h.example", visits[0], c.outcome)
		for s.RetryMs > 0 {
			r.now = r.now.Add(time.Minute)
			s, _ = r.answer("h.example", r.tick("h.example")[0], c.outcome)
		}
		if s.RefreshMs > 0 != c.want {
			t.Errorf("%s: comes back at %d", name, s.RefreshMs)
		}
	}
}

func TestImpossibleRefresh(t *testing.T) {
	r := newRefreshed(t)
	q := &weftpb.Request{Target: &weftpb.Target{Url: "http://h.example/s"}}
	ev := &weftpb.Scheduled{Refreshed: []*weftpb.Refresh{{Request: q, DueMs: 1}}, Timing: &weftpb.Timing{}, Gauges: &weftpb.Gauges{}}
	if err := r.f.Apply("h.example", ev, 0); err == nil || !strings.Contains(err.Error(), "does not wait") {
		t.Errorf("a URL comes back that does not wait: %v", err)
	}
}
