package scope

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// Patterns are compiled or refused. What a policy admits is within its mode and
// its depth, and a policy that permits more admits it too.
func FuzzPolicy(f *testing.F) {
	f.Add(uint8(0), `\.pdf$`, `/blog/`, "https://a.example/x/y", "https://a.example/x/z.html", uint32(3), uint32(2), 5, uint8(1))
	f.Add(uint8(2), `(`, ``, "https://a.example/x/", "https://a.example/xy", uint32(0), uint32(0), -1, uint8(2))
	f.Add(uint8(3), `(?i)a{1000}{1000}`, `.`, "http://a.example/", "http://b.example/a/a/a/a?b&b&b&b", uint32(1<<32-1), uint32(1<<32-1), 0, uint8(3))
	f.Fuzz(func(t *testing.T, mode uint8, exclude, include, from, to string, depth, redirects uint32, maxDepth int, via uint8) {
		o := Options{Mode: []Mode{Host, Domain, Prefix, Any}[mode%4], Exclude: []string{exclude}, Include: []string{include}, MaxDepth: maxDepth}
		p, err := New(o)
		if err != nil {
			if strings.Count(err.Error(), "\n") > 0 && !strings.Contains(exclude+include, "\n") {
				t.Fatalf("refused in several lines: %v", err)
			}
			return
		}
		source, refusal := urls.Parse(from)
		target, refused := urls.Parse(to)
		if refusal != urls.Accepted || refused != urls.Accepted {
			return
		}
		r := Referrer{
			URL: source, Domain: source.Hostname(), Depth: depth, Redirects: redirects, Seed: via >= 128,
			Root: source.Directory(), Via: weftpb.Via(via % 5),
		}
		s, refusal2 := p.Judge(r, target, target.Hostname())
		if refusal2 != Accepted {
			return
		}
		if s.Depth < depth && s.Via != weftpb.Via_VIA_SEED || s.Redirects > MaxRedirects {
			t.Fatalf("%+v from %+v", s, r)
		}
		if s.Via == weftpb.Via_VIA_SEED && r.Seed {
			return // a seed is in scope wherever it is
		}
		switch {
		case o.Mode == Host && target.Host() != source.Host(), o.Mode == Domain && target.Hostname() != source.Hostname(),
			o.Mode == Prefix && !strings.HasPrefix(target.String(), source.Directory()):
			t.Fatalf("%s is admitted from %s by %s", target, source, o.Mode)
		case p.ExcludedBy(target) != "":
			t.Fatalf("%s is admitted, and excluded by %s", target, p.ExcludedBy(target))
		case maxDepth != NoDepthLimit && int64(s.Depth) > int64(maxDepth):
			t.Fatalf("admitted at depth %d of %d", s.Depth, maxDepth)
		}
		wide, err := New(Options{Mode: Any, MaxDepth: NoDepthLimit})
		if err != nil {
			t.Fatal(err)
		}
		if _, refusal := wide.Judge(r, target, ""); refusal != Accepted {
			t.Fatalf("%s is admitted, and refused as %s by who permits more", target, refusal)
		}
	})
}
