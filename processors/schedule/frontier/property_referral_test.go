package frontier

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// What a world does with robots.txt of other domains.

func (w *world) randomRules() *weftpb.OriginRules {
	return &weftpb.OriginRules{Robots: &weftpb.Robots{
		Access:       weftpb.Robots_Access(rapid.IntRange(1, 3).Draw(w.t, "access")),
		Rules:        "Disallow: /private\n",
		CrawlDelayMs: rapid.SampledFrom([]uint32{0, 0, 3000, 400_000}).Draw(w.t, "crawl-delay"),
		Hash:         []byte(rapid.SampledFrom([]string{"", "h1", "h2"}).Draw(w.t, "hash")),
		TtlMs:        rapid.SampledFrom([]int64{0, 60_000}).Draw(w.t, "ttl"),
	}}
}

// keeps books rules that stay in force, which must have been fetched within 30 days.
func (w *world) keeps(r *weftpb.OriginRules) {
	until, had := w.ruled[r.Origin]
	if !had || w.now.Sub(until) > maxKept {
		w.t.Fatalf("rules of %s hold on that held until %v, now %v", r.Origin, until, w.now)
	}
	if hold := time.UnixMilli(r.RetryMs); hold.After(until) {
		w.ruled[r.Origin] = hold
	}
}

// refer lets another domain's robots.txt redirect to one here.
func (w *world) refer() {
	domain := rapid.SampledFrom(testDomains).Draw(w.t, "domain")
	w.urls++
	w.settle(domain, &weftpb.Visited{Referral: &weftpb.Target{
		Url: fmt.Sprintf("https://www.%s/private/robots%d", domain, w.urls), Depth: 1,
		Via: weftpb.Via_VIA_ROBOTS, ScopeRoot: "https://elsewhere.example",
	}})
}

// reply brings the answer of another domain, asked for or not.
func (w *world) reply() {
	domain := rapid.SampledFrom(testDomains).Draw(w.t, "domain")
	v := &weftpb.Visited{Rules: w.randomRules()}
	v.Rules.Origin = "https://" + rapid.SampledFrom([]string{"", "www.", "never."}).Draw(w.t, "host") + domain
	if v.Rules.Robots.Access == weftpb.Robots_ACCESS_DISALLOW_ALL || rapid.Bool().Draw(w.t, "outcome") {
		v.Outcomes = []*weftpb.Outcome{w.randomOutcome(0)}
	}
	w.settle(domain, v)
	w.settle(domain, v) // at least once
}
