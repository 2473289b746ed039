package variants

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// URLs are not merged into URLs of an origin without a page that was read.
func TestNothingGivesWayToASilentOrigin(t *testing.T) {
	const page = "http://www.x.org/p"
	toBare := []string{"canonical http://www.x.org/1 /1", "canonical http://www.x.org/2 /2", "canonical http://www.x.org/3 /3"}
	slash := []string{"redirect http://www.x.org/1 http://www.x.org/1/", "redirect http://www.x.org/2 http://www.x.org/2/", "redirect http://www.x.org/3 http://www.x.org/3/"}
	toSecure := []string{"canonical http://www.x.org/1 https://x.org/1", "canonical http://www.x.org/2 https://x.org/2", "canonical http://www.x.org/3 https://x.org/3"}
	for _, c := range []struct {
		name  string
		same  []string
		shown []string
		want  string
	}{
		{"nothing is known of it", nil, toBare, page + "; "},
		{"a page was read there", nil, append(toBare[:3:3], "page /x"), "/p; " + page + " → /p by no-www"},
		{"a page was read there before", nil, append([]string{"short /x"}, toBare...), "/p; " + page + " → /p by no-www"},
		{"a page with the text of another", nil, append(toBare[:3:3], "content /x/index.html /y"), "/p; " + page + " → /p by no-www"},
		{"a redirect", nil, append(toBare[:3:3], "redirect /x /y"), page + "; "},
		{"no page", nil, append(toBare[:3:3], "missing /x"), page + "; "},
		{"a page of the other scheme", nil, append(toBare[:3:3], "page https://x.org/x"), page + "; "},
		{"scheme and host: neither", nil, toSecure, page + "; "},
		{"scheme and host: one of both alone", nil, append(toSecure[:3:3], "short /x", "short https://www.x.org/x"), page + "; "},
		{"scheme and host", nil, append(toSecure[:3:3], "short https://x.org/x"), "https://x.org/p; " + page + " → https://x.org/p by https and no-www"},
		{"the slash of the same origin", nil, append(toBare[:3:3], slash...), page + "/; " + page + " → " + page + "/ by slash"},
		{"said beforehand", []string{"no-www"}, nil, "/p; " + page + " → /p"},
		{"one said beforehand, and one that is silent", []string{"no-www"}, toSecure, "/p; " + page + " → /p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			crawl := newCrawl(t, true, c.same...)
			crawl.show(t, c.shown...)
			// The first is a probe of the rules.
			crawl.name(weftpb.Via_VIA_LINK, "http://www.x.org/first", "http://www.x.org/first/")
			if got := became(crawl.name(weftpb.Via_VIA_LINK, page)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			crawl.check()
		})
	}
}

// The pages of a site name their URLs with http as canonical. URLs with https are merged into these
// when a page was read with http.
func TestHTTPIsKept(t *testing.T) {
	crawl := newCrawl(t, true)
	crawl.show(t, "canonical https://x.org/1 /1", "canonical https://x.org/2 /2", "canonical https://x.org/3 /3")
	for _, step := range []struct{ shown, named, want string }{
		{"short https://x.org/x", "https://x.org/a", "https://x.org/a; "},
		{"short /x", "https://x.org/first", "https://x.org/first (probe); "},
		{"short /x", "https://x.org/p", "/p; https://x.org/p → /p by http"},
		{"short /x", "/c", "/c; "},
		{"own https://x.org/d", "https://x.org/e", "https://x.org/e; "},
	} {
		crawl.show(t, step.shown)
		if got := became(crawl.name(weftpb.Via_VIA_LINK, step.named)); got != step.want {
			t.Errorf("got  %s\nwant %s", got, step.want)
		}
		crawl.check()
	}
}

// A ledger of before has one group for all origins, which may be withdrawn though none
// of them is known to answer. What it holds comes back when the rule breaks.
func TestGroupsOfBefore(t *testing.T) {
	crawl := newCrawl(t, true)
	aside := link("http://www.x.org/p")
	aside.Group, aside.Twin = "x.org www", full("/p")
	crawl.apply(&weftpb.Deduped{Targets: []*weftpb.Target{link(full("/p")), aside}})
	crawl.apply(&weftpb.Deduped{
		Evidence: []*weftpb.Evidence{
			script(t, "redirect http://www.x.org/1 /1"), script(t, "redirect http://www.x.org/2 /2"), script(t, "redirect http://www.x.org/3 /3"),
		},
		Groups: []*weftpb.Group{{Name: "x.org www", State: weftpb.Group_STATE_WITHDRAWN}},
	})
	crawl.check()
	told := asideOf(crawl.show(t, "redirect /4 http://www.x.org/4"))
	if !slices.Contains(strings.Split(told, ", "), "x.org www free") {
		t.Errorf("told %q", told)
	}
	crawl.check()
}

// Some origins of a site do not answer. Every page that is named at an origin that answers is read,
// whatever origin pages name as canonical or redirect to.
func TestNoPageIsLostToASilentOrigin(t *testing.T) {
	all := []string{"http://x.org", "https://x.org", "http://www.x.org", "https://www.x.org"}
	rapid.Check(t, func(t *rapid.T) {
		c := newCrawl(t, true)
		silent := rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID).Draw(t, "silent")
		canonical := rapid.SampledFrom(all).Draw(t, "canonical")
		redirects := rapid.Bool().Draw(t, "redirects") && !slices.Contains(silent, canonical)
		slashed := rapid.Bool().Draw(t, "slashed")
		path := func(i int) string {
			if slashed {
				return fmt.Sprintf("/%d/", i)
			}
			return fmt.Sprintf("/%d", i)
		}
		pages := rapid.IntRange(1, 24).Draw(t, "pages")
		named, read := map[int]bool{}, map[int]bool{}
		answer := func(target *weftpb.Target) *weftpb.Normalized {
			at, i := "", 0
			for _, origin := range all {
				if rest, ok := strings.CutPrefix(target.Url, origin+"/"); ok {
					at = origin
					if _, err := fmt.Sscanf(rest, "%d", &i); err != nil {
						t.Fatal(err)
					}
				}
			}
			to := canonical + path(i)
			says := &weftpb.Evidence{Kind: weftpb.Evidence_KIND_CANONICAL, Url: target.Url, SameAs: to}
			switch {
			case slices.Contains(silent, at):
				return &weftpb.Normalized{}
			case target.Url == to:
				read[i] = true
				return &weftpb.Normalized{Evidence: []*weftpb.Evidence{{Kind: weftpb.Evidence_KIND_PAGE, Url: to}}}
			case redirects:
				says.Kind = weftpb.Evidence_KIND_REDIRECT
				return &weftpb.Normalized{Targets: []*weftpb.Target{{Url: to, Via: weftpb.Via_VIA_REDIRECT}}, Evidence: []*weftpb.Evidence{says}}
			}
			read[i] = true
			return &weftpb.Normalized{Targets: []*weftpb.Target{link(to)}, Evidence: []*weftpb.Evidence{says}}
		}
		order := rapid.Permutation(twice(4 * pages)[:4*pages]).Draw(t, "order")
		order = order[:rapid.IntRange(0, len(order)).Draw(t, "named")]
		for {
			if len(order) > 0 && (len(c.queue) == 0 || rapid.Bool().Draw(t, "name")) {
				i, at := order[0]/4, all[order[0]%4]
				if !slices.Contains(silent, at) {
					named[i] = true
				}
				c.take(naming(link(at + path(i))))
				order = order[1:]
				continue
			}
			next := c.next()
			if next == nil {
				break
			}
			if event := answer(next); len(event.Targets)+len(event.Evidence) > 0 {
				c.take(event)
			}
		}
		c.check()
		for i := range named {
			if !read[i] {
				t.Fatalf("page %d was never read", i)
			}
		}
	})
}
