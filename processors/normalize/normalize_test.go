package normalize

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/topics"
)

func newNormalizer(t *testing.T, o scope.Options) normalizer {
	t.Helper()
	policy, err := scope.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return normalizer{
		env: stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}}, policy: policy, suffixes: urls.BundledSuffixes(), passed: new(passed),
	}
}

// shown is a list of batches as "domain: url via depth, …".
func shown(b *batches) (list []string) {
	if b == nil {
		return nil
	}
	for _, batch := range b.list {
		var targets []string
		for _, t := range batch.record.Targets {
			targets = append(targets, fmt.Sprintf("%s %s %d", t.Url, strings.ToLower(t.Via.String()[4:]), t.Depth))
		}
		list = append(list, batch.domain+": "+strings.Join(targets, ", "))
	}
	return list
}

func TestSeedRecords(t *testing.T) {
	n := newNormalizer(t, scope.DefaultOptions())
	for _, c := range []struct {
		name, value, reason string
		want                []string
	}{
		{"a line", "HTTP://Example.org:80/a/../b#c", "", []string{"example.org: http://example.org/b seed 0"}},
		{"an object", `{"url": "https://www.example.co.uk/"}`, "", []string{"example.co.uk: https://www.example.co.uk/ seed 0"}},
		{"two of a domain and one of another", "https://a.example.org/\nhttps://b.example.org/\nhttps://example.com/", "",
			[]string{"example.org: https://a.example.org/ seed 0, https://b.example.org/ seed 0", "example.com: https://example.com/ seed 0"}},
		{"one bad line among good ones", "{\"url\": 1}\nhttps://example.org/\nmailto:x", "", []string{"example.org: https://example.org/ seed 0"}},
		{"comments only", "# nothing\n\n", "", nil},
		{"nothing", "", "", nil},
		{"no JSON", `{"url": `, "seed_not_json", nil},
		{"no URL", `{}`, "seed_no_url", nil},
		{"no text", "\xff\xfe", "seed_not_text", nil},
		{"no web address", "mailto:x@example.org", "seed_not_crawlable_mailto", nil},
	} {
		got, reason := n.seeds([]byte(c.value))
		if reason != c.reason || !slices.Equal(shown(got), c.want) {
			t.Errorf("%s: %q and reason %q", c.name, shown(got), reason)
		}
	}
}

func TestDiscoveredRecords(t *testing.T) {
	n := newNormalizer(t, scope.Options{Mode: scope.Domain, MaxDepth: 3})
	for _, c := range []struct {
		name   string
		record *weftpb.Discovered
		reason string
		want   []string
	}{
		{"links resolve against the page", &weftpb.Discovered{
			Source: "https://www.example.org/dir/page", Depth: 1, Via: weftpb.Via_VIA_LINK,
			Links: []*weftpb.Link{{Url: "next"}, {Url: "//docs.example.org/"}, {Url: "https://example.com/"}, {Url: "mailto:x"}},
		}, "", []string{"example.org: https://www.example.org/dir/next link 2, https://docs.example.org/ link 2"}},
		{"or against its base", &weftpb.Discovered{
			Source: "https://www.example.org/dir/page", Base: "/other/", Via: weftpb.Via_VIA_LINK,
			Links: []*weftpb.Link{{Url: "next"}},
		}, "", []string{"example.org: https://www.example.org/other/next link 1"}},
		{"a base that is none does not count", &weftpb.Discovered{
			Source: "https://www.example.org/dir/page", Base: "data:,x", Via: weftpb.Via_VIA_LINK,
			Links: []*weftpb.Link{{Url: "next"}},
		}, "", []string{"example.org: https://www.example.org/dir/next link 1"}},
		{"too deep", &weftpb.Discovered{
			Source: "https://www.example.org/", Depth: 3, Via: weftpb.Via_VIA_LINK, Links: []*weftpb.Link{{Url: "next"}},
		}, "", nil},
		{"no links", &weftpb.Discovered{Source: "https://www.example.org/"}, "", nil},
		{"no page", &weftpb.Discovered{Links: []*weftpb.Link{{Url: "next"}}}, "source_empty", nil},
	} {
		got, reason := n.discovered(stage.Encode(c.record))
		if reason != c.reason || !slices.Equal(shown(got), c.want) {
			t.Errorf("%s: %q and reason %q", c.name, shown(got), reason)
		}
		if got != nil && slices.ContainsFunc(got.list, func(b *batch) bool { return b.record.Source != c.record.Source }) {
			t.Errorf("%s: a batch has another source", c.name)
		}
	}
	if _, reason := n.discovered([]byte{0xff}); reason != "undecodable" {
		t.Errorf("noise is rejected for %q", reason)
	}
}

// Whatever comes, no batch is larger than a record may be, none mixes domains,
// and all of a domain's URLs are there once and in order.
func TestBatchesAreBoundedAndComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &batches{source: "https://example.org/"}
		want := map[string][]string{}
		n := rapid.IntRange(0, 700).Draw(t, "links")
		longest := rapid.SampledFrom([]int{10, 400, 1900}).Draw(t, "longest")
		for i := range n {
			domain := fmt.Sprintf("d%d.example", rapid.IntRange(0, 2).Draw(t, "domain"))
			path := strings.Repeat("x", rapid.IntRange(0, longest).Draw(t, "length"))
			u, refusal := urls.Parse(fmt.Sprintf("https://%s/%d%s", domain, i, path))
			if refusal != urls.Accepted {
				t.Fatal(refusal)
			}
			b.add(domain, u, scope.Standing{Depth: 1, Via: weftpb.Via_VIA_LINK})
			want[domain] = append(want[domain], u.String())
		}
		have := map[string][]string{}
		for _, batch := range b.list {
			if size := len(batch.record.Targets); size == 0 || size > 200 {
				t.Fatalf("a batch of %d targets", size)
			}
			if size := len(stage.Encode(&batch.record)); size > 64<<10+100 {
				t.Fatalf("a batch of %d bytes", size)
			}
			for _, target := range batch.record.Targets {
				have[batch.domain] = append(have[batch.domain], target.Url)
			}
		}
		for domain := range want {
			if !slices.Equal(have[domain], want[domain]) {
				t.Fatalf("%s: %d targets of %d, or in another order", domain, len(have[domain]), len(want[domain]))
			}
		}
		if b.targets != n {
			t.Fatalf("counted %d of %d targets", b.targets, n)
		}
	})
}

// What claims to be about another domain, or is no URL, is not passed on, and
// only so much of the rest.
func TestForeignEvidenceIsLeftOut(t *testing.T) {
	n := newNormalizer(t, scope.DefaultOptions())
	url, other := "https://a.example.org/", "https://b.example.org/"
	shown := []*weftpb.Evidence{
		{Url: url, SameAs: "https://example.com/"}, {Url: "https://example.com/", SameAs: url}, {Url: "nonsense", SameAs: url},
	}
	for range maxEvidence {
		shown = append(shown, &weftpb.Evidence{Kind: weftpb.Evidence_KIND_CONTENT, Url: url, SameAs: other, Distance: 2, Relative: true})
	}
	out, reason := n.discovered(stage.Encode(&weftpb.Discovered{Source: url, Evidence: shown}))
	if reason != "" || len(out.list) != 1 {
		t.Fatalf("%d records, refused %q", len(out.list), reason)
	}
	got := out.list[0].record.Evidence
	if len(got) != maxEvidence-3 {
		t.Errorf("%d of %d pieces of evidence are passed on", len(got), maxEvidence)
	}
	if diff := cmp.Diff(shown[3], got[0], protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	u, _ := urls.Parse(url)
	if out.list[0].domain != n.suffixes.Domain(u.Hostname()) {
		t.Errorf("passed on to %s", out.list[0].domain)
	}
}
