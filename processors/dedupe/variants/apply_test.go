package variants

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/internal/urls"
)

func parse(t rapid.TB, raw string) urls.URL {
	t.Helper()
	u, refusal := urls.Parse(raw)
	if refusal != urls.Accepted {
		t.Fatalf("%s: %s", raw, refusal)
	}
	return u
}

func TestBetween(t *testing.T) {
	for _, c := range []struct{ from, to, rules string }{
		{"http://x.org/a", "https://x.org/a", "https"},
		{"https://x.org/a", "http://x.org/a", "http"},
		{"http://x.org:8080/a", "https://x.org:8080/a", ""},
		{"http://x.org:8080/a", "http://x.org:8080/a/", "slash"},
		{"http://www.x.org/a", "http://x.org/a", "no-www"},
		{"http://x.org/a", "http://www.x.org/a", "www"},
		{"http://x.org/a", "https://www.x.org/a/", "https,www,slash"},
		{"http://www.x.org/a", "http://www2.x.org/a", ""},
		{"http://www.www.x.org/", "http://www.x.org/", ""},
		{"http://www.127.0.0.1.x.org/", "http://127.0.0.1.x.org/", "no-www"},
		{"http://127.0.0.1/", "http://www.127.0.0.1.x.org/", ""},
		{"http://x.org/a", "http://x.org/a/", "slash"},
		{"http://x.org/a/", "http://x.org/a", "no-slash"},
		{"http://x.org/a.pdf", "http://x.org/a.pdf/", ""},
		{"http://x.org/a//", "http://x.org/a/", ""},
		{"http://x.org/a?q=1", "http://x.org/a/?q=1", "slash"},
		{"http://x.org/a?q=1", "http://x.org/a/?q=2", ""},
		{"http://x.org/index.html", "http://x.org/", "index.html"},
		{"http://x.org/", "http://x.org/index.html", ""},
		{"http://x.org/d/index.php?p=1", "http://x.org/d/?p=1", "index.php"},
		{"http://x.org/d/index.html", "http://x.org/d", "no-slash,index.html"},
		{"http://x.org/d/Index.html", "http://x.org/d/", ""},
		{"http://x.org/d/xindex.html", "http://x.org/d/", ""},
		{"http://x.org/a", "http://x.org/A", ""},
		{"http://x.org/a", "http://x.org/b", ""},
		{"http://x.org/a", "http://x.org/a", ""},
	} {
		if got := Between(parse(t, c.from), parse(t, c.to), "x.org").String(); got != c.rules {
			t.Errorf("%s → %s: %q, want %q", c.from, c.to, got, c.rules)
		}
	}
}

func TestSite(t *testing.T) {
	for _, c := range []struct{ url, domain, site string }{
		{"http://www.x.org/", "x.org", "x.org"},
		{"http://www.x.org:81/", "x.org", "x.org:81"},
		{"http://www.a.x.org/", "x.org", "a.x.org"},
		{"http://x.org/", "x.org", "x.org"},
		{"http://www.co.uk/", "www.co.uk", "www.co.uk"}, // co.uk has no owner
		{"http://www.xx.org/", "x.org", "www.xx.org"},
		{"http://[::1]:81/", "[::1]", "[::1]:81"},
	} {
		if got := Site(parse(t, c.url), c.domain); got != c.site {
			t.Errorf("%s of %s: site %s, want %s", c.url, c.domain, got, c.site)
		}
	}
}

var (
	anyURL = rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"http", "https"}).Draw(t, "scheme") + "://" +
			rapid.SampledFrom([]string{"x.org", "www.x.org", "www.www.x.org", "a.x.org", "www.a.x.org:81", "10.0.0.1", "[::1]", "host"}).Draw(t, "host") +
			rapid.StringMatching(`(/(a|b\.c|index\.(html|php|htm)|default\.asp|)){1,4}(\?q(=1)?)?`).Draw(t, "path")
	})
	anyRules = rapid.Custom(func(t *rapid.T) Set {
		rules := every & Set(rapid.Uint32().Draw(t, "rules"))
		return rules &^ (rules & of(HTTP, WWW, Slash)).opposites()
	})
)

// The URL that stands for others stands for itself, stays in its domain and its
// site, and the rules between it and the others are those that were used.
func TestApplyIsAFixedPoint(t *testing.T) {
	suffixes := urls.BundledSuffixes()
	rapid.Check(t, func(t *rapid.T) {
		u, rules := parse(t, anyURL.Draw(t, "url")), anyRules.Draw(t, "rules")
		domain := suffixes.Domain(u.Hostname())
		kept, used := Apply(rules, u, domain)
		if (used == 0) != (kept == u) || used&^rules != 0 {
			t.Fatalf("%s by %q is %s, used %q", u, rules, kept, used)
		}
		if again, more := Apply(rules, kept, domain); more != 0 {
			t.Fatalf("%s by %q is %s, which is %s", u, rules, kept, again)
		}
		if to := suffixes.Domain(kept.Hostname()); to != domain || Site(kept, domain) != Site(u, domain) {
			t.Fatalf("%s by %q is %s, in another site", u, rules, kept)
		}
		if got := Between(u, kept, domain); got != used {
			t.Fatalf("%s is %s by %q, and between them is %q", u, kept, used, got)
		}
	})
}

func TestOtherSlash(t *testing.T) {
	for _, c := range []struct{ url, other string }{
		{"http://x.org/a", "http://x.org/a/"},
		{"http://x.org/a/?q=1", "http://x.org/a?q=1"},
		{"http://x.org/", ""},
		{"http://x.org/a.html", ""},
		{"http://x.org/a/index.html", ""},
		{"http://x.org/a//", ""},
	} {
		other, ok := OtherSlash(parse(t, c.url))
		if ok != (c.other != "") || ok && other.String() != c.other {
			t.Errorf("%s: %s, %v, want %q", c.url, other, ok, c.other)
		}
	}
}

func TestNamesOfRules(t *testing.T) {
	for r := range Rule(rules) {
		if back, ok := Named(r.String()); !ok || back != r {
			t.Errorf("rule %d is %q, which names %d", r, r, back)
		}
	}
	if got := setOf(append(Names(), "nonsense")); got != every {
		t.Errorf("the names of all rules are %q", got)
	}
	if _, ok := Named("case"); ok {
		t.Error("there is no rule about case")
	}
}
