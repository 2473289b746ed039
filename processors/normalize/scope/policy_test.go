package scope

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

const (
	link     = weftpb.Via_VIA_LINK
	redirect = weftpb.Via_VIA_REDIRECT
	sitemap  = weftpb.Via_VIA_SITEMAP
	seed     = weftpb.Via_VIA_SEED
)

func parse(t interface{ Fatalf(string, ...any) }, raw string) urls.URL {
	u, refusal := urls.Parse(raw)
	if refusal != urls.Accepted {
		t.Fatalf("%q: %s", raw, refusal)
	}
	return u
}

func policy(t testing.TB, o Options) *Policy {
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judge judges a reference of an ordinary page at depth 1.
func judge(t testing.TB, p *Policy, via weftpb.Via, from, root, target string) (Standing, Refusal) {
	suffixes := urls.BundledSuffixes()
	page, u := parse(t, from), parse(t, target)
	return p.Judge(Referrer{URL: page, Domain: suffixes.Domain(page.Hostname()), Depth: 1, Root: root, Via: via},
		u, suffixes.Domain(u.Hostname()))
}

func TestModes(t *testing.T) {
	const page, root = "https://docs.example.com/guide/a/b.html?q", "https://docs.example.com/guide/"
	for _, c := range []struct {
		target string
		in     string // the modes that take it
	}{
		{"https://docs.example.com/guide/", "host domain prefix any"},
		{"https://docs.example.com/guide/c?d=/", "host domain prefix any"},
		{"https://docs.example.com/guide", "host domain any"},
		{"https://docs.example.com/guided", "host domain any"},
		{"https://docs.example.com/guide/../x", "host domain any"},
		{"http://docs.example.com/guide/", "host domain any"},
		{"https://docs.example.com:8443/guide/", "domain any"},
		{"https://example.com/guide/", "domain any"},
		{"https://docs.example.com.evil.org/guide/", "any"},
		{"https://docs.example.org/guide/", "any"},
		{"https://1.2.3.4/", "any"},
	} {
		for _, mode := range []Mode{Host, Domain, Prefix, Any} {
			want := OutOfScope
			if strings.Contains(c.in, string(mode)) {
				want = Accepted
			}
			p := policy(t, Options{Mode: mode, MaxDepth: NoDepthLimit})
			for _, via := range []weftpb.Via{link, redirect, sitemap} {
				if _, got := judge(t, p, via, page, root, c.target); got != want {
					t.Errorf("%s by %s: %s gives %q, want %q", mode, via, c.target, got, want)
				}
			}
		}
	}
}

func TestPrivateSuffixesSeparateDomains(t *testing.T) {
	p := policy(t, Options{Mode: Domain, MaxDepth: NoDepthLimit})
	if _, got := judge(t, p, link, "https://jo.github.io/", "", "https://mo.github.io/"); got != OutOfScope {
		t.Errorf("another owner's github.io is %q", got)
	}
}

func TestPrefixWithoutRootTakesNothing(t *testing.T) {
	p := policy(t, Options{Mode: Prefix, MaxDepth: NoDepthLimit})
	if _, got := judge(t, p, link, "https://h/", "", "https://h/"); got != OutOfScope {
		t.Errorf("got %q, want %q", got, OutOfScope)
	}
}

func TestStanding(t *testing.T) {
	p := policy(t, Options{Mode: Prefix, MaxDepth: NoDepthLimit})
	for _, c := range []struct {
		name   string
		from   Referrer
		target string
		want   Standing
	}{
		{"link", Referrer{Depth: 3, Root: "https://h/a/", Via: link}, "https://h/a/b",
			Standing{Depth: 4, Via: link, Root: "https://h/a/"}},
		{"link of a seed", Referrer{Seed: true, Root: "https://h/a/", Via: link}, "https://h/a/b",
			Standing{Depth: 1, Via: link, Root: "https://h/a/"}},
		{"redirect", Referrer{Depth: 3, Root: "https://h/a/", Via: redirect}, "https://h/a/b",
			Standing{Depth: 3, Via: redirect, Root: "https://h/a/", Redirects: 1}},
		{"sitemap entry", Referrer{Depth: 3, Root: "https://h/a/", Via: sitemap}, "https://h/a/b",
			Standing{Depth: 3, Via: sitemap, Root: "https://h/a/"}},
		{"redirect of a seed", Referrer{Seed: true, Root: "http://h/", Via: redirect}, "https://www.h/x/y?z=/",
			Standing{Depth: 0, Via: seed, Root: "https://www.h/x/", Redirects: 1}},
	} {
		got, refusal := p.Judge(c.from, parse(t, c.target), "")
		if got != c.want || refusal != Accepted {
			t.Errorf("%s: got %+v %q, want %+v", c.name, got, refusal, c.want)
		}
	}
	host := policy(t, DefaultOptions())
	if got, _ := host.Seed(parse(t, "https://h/a/b")); got != (Standing{Via: seed}) {
		t.Errorf("a seed with host scope stands as %+v", got)
	}
}

func TestPatterns(t *testing.T) {
	p := policy(t, Options{Mode: Host, Include: []string{`/docs/`, `\.pdf$`}, Exclude: []string{`[?&]sort=`, `^http://`}, MaxDepth: 2})
	for _, c := range []struct {
		target     string
		want, seed Refusal
	}{
		{"https://h/docs/x", Accepted, Accepted},
		{"https://h/x.pdf", Accepted, Accepted},
		{"https://h/x", NotIncluded, Accepted},
		{"https://h/docs/?sort=up", Excluded, Excluded},
		{"http://h/docs/", Excluded, Excluded},
		{"https://i/docs/", OutOfScope, Accepted},
	} {
		if _, got := judge(t, p, link, "https://h/", "", c.target); got != c.want {
			t.Errorf("%s gives %q, want %q", c.target, got, c.want)
		}
		if _, got := p.Seed(parse(t, c.target)); got != c.seed {
			t.Errorf("seed %s gives %q, want %q", c.target, got, c.seed)
		}
		fromSeed := Referrer{URL: parse(t, "https://g/"), Seed: true, Via: redirect}
		if _, got := p.Judge(fromSeed, parse(t, c.target), "h"); got != c.seed {
			t.Errorf("%s, redirected to from a seed, gives %q, want %q", c.target, got, c.seed)
		}
	}
}

func TestDepth(t *testing.T) {
	u := parse(t, "https://h/")
	for _, c := range []struct {
		limit int
		depth uint32
		via   weftpb.Via
		want  Refusal
	}{
		{NoDepthLimit, 1 << 31, link, Accepted},
		{0, 0, link, TooDeep},
		{0, 0, redirect, Accepted},
		{0, 0, sitemap, Accepted},
		{2, 1, link, Accepted},
		{2, 2, link, TooDeep},
		{2, 2, redirect, Accepted},
	} {
		p := policy(t, Options{Mode: Host, MaxDepth: c.limit})
		if _, got := p.Judge(Referrer{URL: u, Depth: c.depth, Via: c.via}, u, "h"); got != c.want {
			t.Errorf("limit %d: %s at depth %d gives %q, want %q", c.limit, c.via, c.depth, got, c.want)
		}
	}
}

// TestScopeIsConnected walks links at random and holds the induction that the
// package rests on: what is reached step by step is what the seed allows.
// A chain of redirects is followed as far as browsers follow it, from a seed as
// from any page, and a link begins anew.
func TestRedirectsInARow(t *testing.T) {
	p := policy(t, DefaultOptions())
	page := parse(t, "https://h/")
	for _, seed := range []bool{false, true} {
		from := Referrer{URL: page, Domain: "h", Seed: seed, Via: redirect}
		for hop := uint32(1); hop <= MaxRedirects; hop++ {
			standing, refusal := p.Judge(from, page, "h")
			if refusal != Accepted || standing.Redirects != hop {
				t.Fatalf("hop %d: %+v, %q", hop, standing, refusal)
			}
			from.Redirects = standing.Redirects
		}
		if _, refusal := p.Judge(from, page, "h"); refusal != TooManyRedirects {
			t.Errorf("one more is %q", refusal)
		}
		from.Via = link
		if standing, refusal := p.Judge(from, page, "h"); refusal != Accepted || standing.Redirects != 0 {
			t.Errorf("a link of the last: %+v, %q", standing, refusal)
		}
	}
}

func TestScopeIsConnected(t *testing.T) {
	suffixes := urls.BundledSuffixes()
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]Mode{Host, Domain, Prefix}).Draw(t, "mode")
		p, err := New(Options{Mode: mode, MaxDepth: NoDepthLimit})
		if err != nil {
			t.Fatal(err)
		}
		drawURL := rapid.Custom(func(t *rapid.T) urls.URL {
			return parse(t, rapid.SampledFrom([]string{"https://a.example.com", "https://b.example.com", "https://a.example.org"}).Draw(t, "host")+
				rapid.SampledFrom([]string{"/", "/x/", "/x/y", "/x/y/z", "/xy"}).Draw(t, "path"))
		})
		start := drawURL.Draw(t, "seed")
		standing, _ := p.Seed(start)
		page := start
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			next := drawURL.Draw(t, "link")
			domain := suffixes.Domain(next.Hostname())
			from := Referrer{URL: page, Domain: suffixes.Domain(page.Hostname()), Depth: standing.Depth, Root: standing.Root, Via: link}
			got, refusal := p.Judge(from, next, domain)
			want := map[Mode]bool{
				Host:   next.Host() == start.Host(),
				Domain: domain == suffixes.Domain(start.Hostname()),
				Prefix: strings.HasPrefix(next.String(), start.Directory()),
			}[mode]
			if want != (refusal == Accepted) {
				t.Fatalf("seed %s, at %s: link to %s gives %q", start, page, next, refusal)
			}
			if refusal == Accepted {
				page, standing = next, got
			}
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, `scope "" is not one of`},
		{Options{Mode: "site"}, `scope "site" is not one of`},
		{Options{Mode: Host, MaxDepth: -2}, "depth limit -2"},
		{Options{Mode: Host, Include: []string{"a("}}, "compile include pattern"},
		{Options{Mode: Host, Exclude: []string{"ok", "["}}, "compile exclude pattern"},
	} {
		if err := c.options.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.options, err, c.want)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	page, target := parse(b, "https://www.example.com/a/"), parse(b, "https://www.example.com/a/b.html")
	for name, options := range map[string]Options{
		"host":   DefaultOptions(),
		"prefix": {Mode: Prefix, MaxDepth: 5, Exclude: []string{`\.(jpg|png|zip)$`}},
	} {
		b.Run(name, func(b *testing.B) {
			p := policy(b, options)
			from := Referrer{URL: page, Domain: "example.com", Root: "https://www.example.com/", Via: link}
			b.ReportAllocs()
			for b.Loop() {
				p.Judge(from, target, "example.com")
			}
		})
	}
}
