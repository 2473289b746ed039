package urls

import (
	"strings"
	"testing"
)

// baseOf is the base that a raw URL gives, or none when it is refused.
func baseOf(raw string) *Base {
	u, _ := Parse(raw)
	return NewBase(u)
}

// FuzzParse checks what every accepted URL must be: a fixed point of Parse,
// within the bound, printable ASCII, with parts that make up the whole.
func FuzzParse(f *testing.F) {
	for _, base := range nastyBases {
		for _, ref := range nasty {
			f.Add(base, ref)
		}
	}
	for _, n := range []int{249, 253, maxHostBytes, MaxBytes, maxRawBytes} {
		f.Add("http://h/a", strings.Repeat("a", n))
		f.Add("http://h/a", "//"+strings.Repeat("a.", n/2)+"com/x")
		f.Add("http://h/a", "/"+strings.Repeat("a/", n/2)+"?q")
	}
	f.Fuzz(func(t *testing.T, rawBase, ref string) {
		u, refusal := baseOf(rawBase).Resolve(ref)
		if refusal != Accepted {
			if !u.IsZero() {
				t.Fatalf("refused as %s and yet %q", refusal, u)
			}
			return
		}
		if u.IsZero() {
			if rawBase == "" || baseOf(rawBase).url.IsZero() {
				t.Fatalf("ref %q: accepted, but there is no URL", ref)
			}
		}
		again, refusal := Parse(u.String())
		if again != u || refusal != Accepted {
			t.Fatalf("%q parses to %q %s", u, again, refusal)
		}
		if len(u.String()) > MaxBytes {
			t.Fatalf("%d bytes long", len(u.String()))
		}
		if i := strings.IndexFunc(u.String(), func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }); i >= 0 {
			t.Fatalf("%q holds %q", u, u.String()[i])
		}
		if u.Origin()+u.PathAndQuery() != u.String() || u.Scheme()+"://"+u.Host() != u.Origin() ||
			!strings.HasPrefix(u.Host(), u.Hostname()) || !strings.HasPrefix(u.PathAndQuery(), u.Path()) ||
			!strings.HasPrefix(u.String(), u.Directory()) || !strings.HasPrefix(u.Path(), "/") {
			t.Fatalf("%q does not fall into its parts", u)
		}
	})
}

// TestOrdinaryLinksAreCheap holds the ordinary links of the web to one allocation.
func TestOrdinaryLinksAreCheap(t *testing.T) {
	base := baseOf("https://docs.example.com/a/b/page.html?x=1").url
	for _, ref := range []string{
		"https://example.com", "http://example.com/", "https://www.example.com:8443/a/b.html?c=d&e=f#g", "//cdn.example.net/x.js",
		"/", "/a/b/c", "../up/x.html", "./x", "x.html#y", "?page=2", "#top", "", "/caf%c3%a9", "/café?q=naïve", "/a b", "/%7Ejo/",
		"https://de.wikipedia.org/wiki/Käse_(Begriffsklärung)", "/search?q='x'&r=[1]",
		"https://xn--bcher-kva.example/", "//r3---sn-x.example.com/a^b",
	} {
		if n := testing.AllocsPerRun(10, func() { resolve(base, ref) }); n > 1 {
			t.Errorf("%q takes %v allocations", ref, n)
		}
	}
}

var benchmarkRefs = []struct{ name, ref string }{
	{"absolute", "https://www.example.com/docs/guide/introduction.html"},
	{"absolute-query", "https://www.example.com/search?q=golang&page=2#results"},
	{"rooted", "/docs/guide/introduction.html"},
	{"relative", "../reference/types.html"},
	{"escaped", "/wiki/K%c3%a4se_%28food%29"},
	{"fragment", "#section-3"},
	{"mailto", "mailto:someone@example.com"},
}

func BenchmarkResolve(b *testing.B) {
	for _, c := range benchmarkRefs {
		b.Run(c.name, func(b *testing.B) {
			base := baseOf("https://www.example.com/docs/guide/index.html")
			b.ReportAllocs()
			for b.Loop() {
				base.Resolve(c.ref)
			}
		})
	}
}
