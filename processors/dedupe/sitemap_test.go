package dedupe

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/dedupe/foreign"
	"github.com/weftcrawl/weft/processors/dedupe/traps"
	"github.com/weftcrawl/weft/topics"
)

func sitemaps(list ...string) *weftpb.Normalized {
	n := &weftpb.Normalized{Source: "https://a.example/robots.txt"}
	for _, u := range list {
		n.Targets = append(n.Targets, &weftpb.Target{Url: u, Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: &weftpb.Sitemap{Level: 1, Host: "a.example"}})
	}
	return n
}

// Sitemaps are in no group and no trap, count for no bound, and teach nothing, whatever they
// are called.
func TestSitemapsTeachNothing(t *testing.T) {
	d := newDeduper(t, topics.Definition{Scope: "any", MaxDepth: -1, MaxPagesPerDomain: 3})
	for i := range 10 {
		ev := d.take("a.example", sitemaps(fmt.Sprintf("https://a.example/sitemap.php?page=%d", i), fmt.Sprintf("http://a.example/sm/%d/", i), fmt.Sprintf("https://a.example/sm/%d", i)))
		if len(ev.GetTargets()) != 3 || len(ev.Parked)+len(ev.Merged)+len(ev.Groups) > 0 || ev.Targets[0].Group+ev.Targets[1].Group+ev.Targets[2].Group != "" {
			t.Fatalf("sitemaps %d make %v", i, ev)
		}
		if ev.Showing != weftpb.Showing_SHOWING_UNSPECIFIED {
			t.Errorf("a robots.txt shows %v", ev.Showing)
		}
	}
	if ev := d.take("a.example", named("https://a.example/", "https://a.example/a", "https://a.example/b", "https://a.example/c")); len(ev.GetTargets()) != 3 {
		t.Errorf("pages have no room beside sitemaps: %v", ev)
	}
	if ev := d.take("a.example", named("https://a.example/", "https://a.example/d")); len(ev.Parked) != 1 || ev.Parked[0].Reason != string(traps.TooManyPages) {
		t.Errorf("the bound of pages does not hold: %v", ev)
	}
}

// The entries of a sitemap show nothing of the sitemap as a page.
func TestEntriesShowNothing(t *testing.T) {
	d := newDeduper(t, topics.Definition{Scope: "any", MaxDepth: -1})
	n := named("https://a.example/sitemap.xml", "https://a.example/1")
	n.Targets[0].Via = weftpb.Via_VIA_SITEMAP
	if ev := d.take("a.example", n); ev.Showing != weftpb.Showing_SHOWING_UNSPECIFIED {
		t.Errorf("a sitemap shows %v", ev.Showing)
	}
}

// An entry of another host's sitemap waits, is seen once, comes with a link, or with the word of
// its host.
func TestForeignEntries(t *testing.T) {
	d := newDeduper(t, topics.Definition{Scope: "any", MaxDepth: -1})
	entry := func(urls ...string) *weftpb.Normalized {
		n := named("https://cdn.example/s.xml", urls...)
		for _, target := range n.Targets {
			target.Via, target.Entry = weftpb.Via_VIA_SITEMAP, &weftpb.Entry{Foreign: "https://cdn.example/s.xml", LastmodMs: 7}
		}
		return n
	}
	ev := d.take("a.example", entry("https://a.example/1", "https://a.example/2"))
	if len(ev.GetTargets()) != 2 || !foreign.IsGroup(ev.Targets[0].Group) || len(ev.Groups) != 1 || ev.Groups[0].State != weftpb.Group_STATE_WITHDRAWN {
		t.Fatalf("entries make %v", ev)
	}
	if ev := d.take("a.example", entry("https://a.example/1")); ev != nil {
		t.Errorf("again they make %v", ev)
	}
	ev = d.take("a.example", named("https://a.example/", "https://a.example/1"))
	if len(ev.GetRecalled()) != 1 || ev.Recalled[0] != "https://a.example/1" || len(ev.Targets) != 0 {
		t.Errorf("a link makes %v", ev)
	}
	if ev := d.take("a.example", named("https://a.example/", "https://a.example/1")); ev != nil {
		t.Errorf("another link makes %v", ev)
	}
	vouch := &weftpb.Normalized{Source: "https://a.example/robots.txt", Vouched: []*weftpb.Vouch{{Host: "a.example", Sitemap: "https://cdn.example/s.xml"}}}
	ev = d.take("a.example", vouch)
	if len(ev.GetGroups()) != 1 || ev.Groups[0].State != weftpb.Group_STATE_FREE || len(ev.Vouched) != 1 {
		t.Errorf("the word of the host makes %v", ev)
	}
	if ev := d.take("a.example", vouch); ev != nil {
		t.Errorf("the same word again makes %v", ev)
	}
	if ev := d.take("a.example", entry("https://a.example/3")); ev.GetTargets()[0].Group != "" || ev.Targets[0].Entry.LastmodMs != 7 {
		t.Errorf("an entry after the word makes %v", ev)
	}
}
