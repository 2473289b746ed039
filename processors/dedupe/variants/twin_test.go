package variants

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

func TestTwins(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://x.org/a.html", "https https://x.org/a.html, www http://www.x.org/a.html, https+www https://www.x.org/a.html, slash http://x.org/a.html/"},
		{"https://www.x.org/a.html", "https http://www.x.org/a.html, www https://x.org/a.html, https+www http://x.org/a.html, slash https://www.x.org/a.html/"},
		{"http://x.org:8080/a.b?q", "www http://www.x.org:8080/a.b?q, slash http://x.org:8080/a.b/?q"},
		{"http://127.0.0.1/a?q", "https https://127.0.0.1/a?q, slash http://127.0.0.1/a/?q"},
		{"http://127.0.0.1:81/a/index.php?q", "index.php http://127.0.0.1:81/a/?q"},
		{"http://127.0.0.1:81/a/", "slash http://127.0.0.1:81/a, index.html http://127.0.0.1:81/a/index.html, index.htm http://127.0.0.1:81/a/index.htm, " +
			"index.php http://127.0.0.1:81/a/index.php, index.shtml http://127.0.0.1:81/a/index.shtml, index.xhtml http://127.0.0.1:81/a/index.xhtml, " +
			"index.jsp http://127.0.0.1:81/a/index.jsp, index.asp http://127.0.0.1:81/a/index.asp, index.aspx http://127.0.0.1:81/a/index.aspx, " +
			"index.cfm http://127.0.0.1:81/a/index.cfm, default.htm http://127.0.0.1:81/a/default.htm, default.html http://127.0.0.1:81/a/default.html, " +
			"default.asp http://127.0.0.1:81/a/default.asp, default.aspx http://127.0.0.1:81/a/default.aspx"},
	} {
		var got []string
		eachTwin(parse(t, c.url), domain, func(by difference, twin string) bool {
			got = append(got, by.name+" "+twin)
			return true
		})
		if strings.Join(got, ", ") != c.want {
			t.Errorf("twins of %s are\n%s, want\n%s", c.url, strings.Join(got, ", "), c.want)
		}
	}
}

// A twin's rules are those that make one of both of the other, and it has the URL
// as a twin itself.
func TestTwinsAreMutual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := parse(t, rapid.StringMatching(`https?://(www\.)?(a\.)?x\.org(:8080)?/(a/|b|c\.html|index\.html|default\.asp/?){0,3}(\?q)?`).Draw(t, "url"))
		eachTwin(u, domain, func(by difference, raw string) bool {
			other := parse(t, raw)
			if other.String() != raw {
				t.Fatalf("%s has the twin %s, which is no canonical URL", u, raw)
			}
			between := Between(u, other, domain) | Between(other, u, domain)
			if between == 0 || between&^(by.rules|by.also) != 0 {
				t.Fatalf("%s has the twin %s by %s, and between them are %s", u, raw, by.name, between)
			}
			if Site(u, domain) != Site(other, domain) {
				t.Fatalf("%s and %s are of two sites", u, raw)
			}
			group, at := by.groupOf(other, Site(u, domain), domain)
			told := false
			by.eachGroup(Site(u, domain), func(name string, its origins) { told = told || name == group && its == at })
			if !told {
				t.Fatalf("%s waits for %s in %q, of which nothing is told", u, raw, group)
			}
			mutual := false
			eachTwin(other, domain, func(back difference, third string) bool {
				mutual = mutual || third == u.String() && back == by
				return true
			})
			if !mutual {
				t.Fatalf("%s has the twin %s, and not the other way round", u, raw)
			}
			return true
		})
	})
}

// aside prints what of an event waits aside, what is told of groups, and what is
// recalled.
func asideOf(d *weftpb.Deduped) string {
	var all []string
	for _, t := range d.Targets {
		if t.Group != "" {
			all = append(all, fmt.Sprintf("%s aside for %s (%s)", t.Url, t.Twin, t.Group))
		}
	}
	for _, g := range d.Groups {
		state := strings.ToLower(strings.TrimPrefix(g.State.String(), "STATE_"))
		if g.State == weftpb.Group_STATE_UNSPECIFIED {
			state = "open"
		}
		all = append(all, g.Name+" "+state)
	}
	for _, url := range d.Recalled {
		all = append(all, "recalled "+url)
	}
	return strings.ReplaceAll(strings.Join(all, ", "), "http://x.org", "")
}

func TestTwinsWaitAside(t *testing.T) {
	six := []string{"content /a/ /a", "content /b/ /b", "content /c/ /c", "content /d/ /d", "content /e/ /e", "content /f/ /f"}
	// Pages with "www." that name those without as canonical.
	toBare := []string{"canonical http://www.x.org/a /a", "canonical http://www.x.org/b /b", "canonical http://www.x.org/c /c"}
	for _, c := range []struct {
		name          string
		known, shown  []string
		via           weftpb.Via
		named         []string
		want, learned string
	}{
		{name: "the first is crawled", named: []string{"/p"}, want: ""},
		{name: "the second waits", known: []string{"/p"}, named: []string{"/p/"}, want: "/p/ aside for /p (x.org slash)"},
		{name: "whichever is the second", known: []string{"/p/"}, named: []string{"/p"}, want: "/p aside for /p/ (x.org slash)"},
		{name: "both in one record", named: []string{"/p", "/p/"}, want: "/p/ aside for /p (x.org slash)"},
		{name: "the other scheme", known: []string{"/p"}, named: []string{"https://x.org/p"}, want: "https://x.org/p aside for /p ( https)"},
		{name: "scheme and www", known: []string{"/p"}, named: []string{"https://www.x.org/p"}, want: "https://www.x.org/p aside for /p ( https+www)"},
		{name: "an index file", known: []string{"/p/"}, named: []string{"/p/index.asp"}, want: "/p/index.asp aside for /p/ (x.org index.asp)"},
		{name: "a seed does not wait", known: []string{"/p"}, named: []string{"/p/"}, via: weftpb.Via_VIA_SEED, want: ""},
		{name: "what a redirect leads to does not wait", known: []string{"/p"}, named: []string{"/p/"}, via: weftpb.Via_VIA_REDIRECT, want: ""},
		{name: "a sitemap's does", known: []string{"/p"}, named: []string{"/p/"}, via: weftpb.Via_VIA_SITEMAP, want: "/p/ aside for /p (x.org slash)"},
		{name: "learnt", known: []string{"/p/"}, shown: six, learned: "x.org slash withdrawn"},
		{name: "by two thirds", shown: six[:5], learned: ""},
		{name: "learnt before: it is told again", known: []string{"/p/"}, shown: six, named: []string{"/p"},
			learned: "x.org slash withdrawn", want: "/p aside for /p/ (x.org slash), x.org slash withdrawn"},
		{name: "broken before it is learnt", known: []string{"/p"}, shown: []string{"page /a", "page /a/"}, named: []string{"/p/"}, learned: "x.org slash free", want: ""},
		{name: "broken later", known: []string{"/p", "/p/"}, shown: append(slices.Clone(six), "page /a", "page /a/"),
			learned: "x.org slash withdrawn, x.org slash free"},
		{name: "links turn out to be relative", shown: append(slices.Clone(six), "relative page /z"), learned: "x.org slash withdrawn, x.org slash open"},
		{name: "one of scheme and www is broken", known: []string{"/p"}, shown: []string{"page https://x.org/a", "page /a"},
			named: []string{"https://www.x.org/p", "https://x.org/p"}, learned: " https free, https://x.org https free, http://www.x.org https free, https://www.x.org https free, " +
				" https+www free, https://x.org https+www free, http://www.x.org https+www free, https://www.x.org https+www free",
			want: "https://x.org/p aside for https://www.x.org/p (https://www.x.org www)"},
		{name: "nothing answers there", known: []string{"http://www.x.org/p", "/p"}, shown: toBare, learned: "http://www.x.org www withdrawn",
			named: []string{"/q", "http://www.x.org/q"}, want: "http://www.x.org/q aside for /q ( www)"},
		{name: "a page is read there later", known: []string{"http://www.x.org/p"}, shown: append(slices.Clone(toBare), "short /p"),
			learned: "http://www.x.org www withdrawn,  www withdrawn"},
		{name: "a redirect or no page is no answer", known: []string{"http://www.x.org/p"}, shown: append(slices.Clone(toBare), "redirect /x /y", "missing /y"),
			learned: "http://www.x.org www withdrawn"},
		{name: "one that answers at the other scheme only", known: []string{"http://www.x.org/p"}, shown: append(slices.Clone(toBare), "short https://x.org/p"),
			learned: "http://www.x.org www withdrawn, https://x.org www withdrawn"},
		{name: "the first has no page", known: []string{"/p", "/p/"}, shown: []string{"missing /p"}, learned: "recalled /p/"},
		{name: "the first had no page before", known: []string{"/p"}, shown: []string{"missing /p"}, named: []string{"/p/"}, want: ""},
		{name: "a redirect leads to the second", known: []string{"/p", "/p/"}, named: []string{"/p/"}, via: weftpb.Via_VIA_REDIRECT, want: "recalled /p/"},
		{name: "or a seed", known: []string{"/p", "/p/"}, named: []string{"/p/"}, via: weftpb.Via_VIA_SEED, want: "recalled /p/"},
		{name: "a link does not", known: []string{"/p", "/p/"}, named: []string{"/p/"}, want: ""},
		{name: "a redirect leads to the only one", known: []string{"/p"}, named: []string{"/p"}, via: weftpb.Via_VIA_REDIRECT, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			crawl := newCrawl(t, true)
			crawl.name(weftpb.Via_VIA_LINK, c.known...)
			var learned []string
			for _, line := range c.shown {
				if text := asideOf(crawl.show(t, line)); text != "" {
					learned = append(learned, text)
				}
			}
			if got := strings.Join(learned, ", "); got != c.learned {
				t.Errorf("learned %q, want %q", got, c.learned)
			}
			via := c.via
			if via == weftpb.Via_VIA_UNSPECIFIED {
				via = weftpb.Via_VIA_LINK
			}
			if got := asideOf(crawl.name(via, c.named...)); c.named != nil && got != c.want {
				t.Errorf("became %q, want %q", got, c.want)
			}
			crawl.check()
		})
	}
}

func TestNothingWaitsUnlessRulesAreLearnt(t *testing.T) {
	crawl := newCrawl(t, false)
	crawl.name(weftpb.Via_VIA_LINK, "/p")
	if got := asideOf(crawl.name(weftpb.Via_VIA_LINK, "/p/", "https://x.org/p")); got != "" {
		t.Error(got)
	}
}

// A site gives up so much by learnt rules, and then its variants wait aside.
func TestVariantsBeyondTheBoundWaitAside(t *testing.T) {
	crawl := newCrawl(t, true)
	crawl.show(t, "redirect /a /a/", "redirect /b /b/", "redirect /c /c/")
	long := strings.Repeat("x", 1900)
	waiting := 0
	for i := range 400 {
		d := crawl.name(weftpb.Via_VIA_LINK, fmt.Sprintf("/%s%d", long, i))
		for _, t := range d.Targets {
			if t.Group != "" {
				waiting++
			}
		}
	}
	if waiting < 100 || waiting > 250 {
		t.Errorf("%d of 400 URLs wait aside", waiting)
	}
	crawl.check()
}
