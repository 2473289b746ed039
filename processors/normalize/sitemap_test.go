package normalize

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// decided is what normalize makes of a record, a line for each target and vouch, sorted.
func decided(t *testing.T, n normalizer, d *weftpb.Discovered) (lines []string) {
	t.Helper()
	out, reason := n.discovered(stage.Encode(d))
	if reason != "" {
		t.Fatal(reason)
	}
	for _, b := range out.list {
		for _, target := range b.record.Targets {
			line := target.Url
			if s := target.Sitemap; s != nil {
				line += " sitemap of " + s.Host
			}
			if target.Entry.GetForeign() != "" {
				line += " foreign to " + target.Entry.Foreign
			}
			lines = append(lines, line)
		}
		for _, v := range b.record.Vouched {
			lines = append(lines, b.domain+": "+v.Host+" vouches for "+v.Sitemap)
		}
	}
	slices.Sort(lines)
	return lines
}

func links(sitemap *weftpb.Sitemap, refs ...string) (all []*weftpb.Link) {
	for _, ref := range refs {
		all = append(all, &weftpb.Link{Url: ref, Sitemap: sitemap})
	}
	return all
}

func check(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A robots.txt names sitemaps anywhere, whatever the scope, and vouches for sitemaps of other
// hosts.
func TestSitemapsOfARobotsTxt(t *testing.T) {
	d := &weftpb.Discovered{
		Source: "https://a.example/robots.txt", Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Robots: true,
		Links: links(&weftpb.Sitemap{Level: 1, Host: "a.example"}, "/s.xml", "https://www.a.example/w.xml", "https://cdn.example/a.xml", "ftp://x/", "https://a.example/no/s.xml"),
	}
	for _, mode := range []scope.Mode{scope.Host, scope.Domain, scope.Any} {
		n := newNormalizer(t, scope.Options{Mode: mode, MaxDepth: scope.NoDepthLimit, Exclude: []string{"/no/"}, Include: []string{`\.html$`}})
		check(t, string(mode), decided(t, n, d),
			"a.example: a.example vouches for https://a.example/no/s.xml", "a.example: a.example vouches for https://a.example/s.xml",
			"a.example: a.example vouches for https://cdn.example/a.xml", "a.example: a.example vouches for https://www.a.example/w.xml", "https://a.example/s.xml sitemap of a.example",
			"https://cdn.example/a.xml sitemap of a.example", "https://www.a.example/w.xml sitemap of a.example")
	}
	d.Aside = true
	n := newNormalizer(t, scope.Options{Mode: scope.Any, MaxDepth: scope.NoDepthLimit})
	check(t, "an origin that may be none of the crawl", decided(t, n, d), "a.example: a.example vouches for https://a.example/no/s.xml",
		"a.example: a.example vouches for https://a.example/s.xml", "a.example: a.example vouches for https://cdn.example/a.xml",
		"a.example: a.example vouches for https://www.a.example/w.xml")
	d.Aside = false
	n = newNormalizer(t, scope.Options{Mode: scope.Any})
	check(t, "a crawl of seeds alone", decided(t, n, d), "a.example: a.example vouches for https://a.example/no/s.xml", "a.example: a.example vouches for https://a.example/s.xml",
		"a.example: a.example vouches for https://cdn.example/a.xml", "a.example: a.example vouches for https://www.a.example/w.xml")
}

// Entries are in scope as seen from the host whose robots.txt names the sitemap. Those of
// further hosts wait for the word of these.
func TestScopeOfEntries(t *testing.T) {
	own, cdn := "https://a.example/s.xml", "https://cdn.example/s.xml"
	refs := []string{"/1", "http://a.example/2", "https://www.a.example/3", "https://b.a.example/4", "https://c.example/5"}
	for _, c := range []struct {
		name, source string
		told         *weftpb.Sitemap
		mode         scope.Mode
		want         []string
	}{
		{"on its own host, any", own, &weftpb.Sitemap{Level: 1, Host: "a.example"}, scope.Any, []string{
			"http://a.example/2", "https://a.example/1", "https://b.a.example/4 foreign to " + own, "https://c.example/5 foreign to " + own, "https://www.a.example/3",
		}},
		{"on its own host, domain", own, &weftpb.Sitemap{Level: 1, Host: "a.example"}, scope.Domain, []string{
			"http://a.example/2", "https://a.example/1", "https://b.a.example/4 foreign to " + own, "https://c.example/5 foreign to " + own, "https://www.a.example/3",
		}},
		{"on its own host, host", own, &weftpb.Sitemap{Level: 1, Host: "a.example"}, scope.Host, []string{
			"http://a.example/2", "https://a.example/1", "https://b.a.example/4 foreign to " + own, "https://c.example/5 foreign to " + own,
			"https://www.a.example/3 foreign to " + own,
		}},
		{"elsewhere, host", cdn, &weftpb.Sitemap{Level: 1, Host: "a.example"}, scope.Host, []string{
			"http://a.example/2", "https://b.a.example/4 foreign to " + cdn, "https://c.example/5 foreign to " + cdn,
			"https://cdn.example/1 foreign to " + cdn, "https://www.a.example/3 foreign to " + cdn,
		}},
		// A robots.txt that redirects names the sitemap of where it redirects.
		{"named by the host without www, host", "https://www.a.example/s.xml", &weftpb.Sitemap{Level: 1, Host: "a.example"}, scope.Host, []string{
			"http://a.example/2", "https://b.a.example/4 foreign to https://www.a.example/s.xml", "https://c.example/5 foreign to https://www.a.example/s.xml",
			"https://www.a.example/1 foreign to https://www.a.example/s.xml", "https://www.a.example/3 foreign to https://www.a.example/s.xml",
		}},
		{"elsewhere, below an index", cdn, &weftpb.Sitemap{Level: 2, Host: "a.example", Root: "https://cdn.example/index.xml"}, scope.Any, []string{
			"http://a.example/2", "https://b.a.example/4 foreign to https://cdn.example/index.xml", "https://c.example/5 foreign to https://cdn.example/index.xml",
			"https://cdn.example/1", "https://www.a.example/3",
		}},
		{"given by a user", own, &weftpb.Sitemap{Level: 1}, scope.Any, []string{
			"http://a.example/2", "https://a.example/1", "https://b.a.example/4", "https://c.example/5", "https://www.a.example/3",
		}},
		{"given by a user, host", own, &weftpb.Sitemap{Level: 1}, scope.Host, []string{"http://a.example/2", "https://a.example/1"}},
	} {
		n := newNormalizer(t, scope.Options{Mode: c.mode, MaxDepth: scope.NoDepthLimit})
		d := &weftpb.Discovered{Source: c.source, Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: c.told, Links: links(nil, refs...)}
		for _, link := range d.Links {
			link.Entry = &weftpb.Entry{}
		}
		check(t, c.name, decided(t, n, d), c.want...)
	}
}

// Pictures of entries are in scope or not, whatever names them, and do not wait for a vouch.
func TestPicturesOfEntries(t *testing.T) {
	d := &weftpb.Discovered{
		Source: "https://a.example/s.xml", Via: weftpb.Via_VIA_SITEMAP, Depth: 1, Sitemap: &weftpb.Sitemap{Level: 1, Host: "a.example"},
		Links: links(nil, "/1.png", "https://cdn.example/2.png"),
	}
	host, everything := scope.DefaultOptions(), scope.DefaultOptions()
	everything.Mode = scope.Any
	check(t, "host", decided(t, newNormalizer(t, host), d), "https://a.example/1.png")
	check(t, "any", decided(t, newNormalizer(t, everything), d), "https://a.example/1.png", "https://cdn.example/2.png")
}

// What an entry says arrives, and costs nothing where it says nothing.
func TestEntriesKeepWhatTheySay(t *testing.T) {
	says := &weftpb.Entry{Priority: 801, LastmodMs: 5, ChangeFrequency: weftpb.Entry_CHANGE_FREQUENCY_DAILY}
	d := &weftpb.Discovered{
		Source: "https://a.example/s.xml", Via: weftpb.Via_VIA_SITEMAP, Depth: 1, Sitemap: &weftpb.Sitemap{Level: 1, Host: "a.example"},
		Links: []*weftpb.Link{{Url: "/1", Entry: says}, {Url: "/2", Entry: &weftpb.Entry{}}},
	}
	out, _ := newNormalizer(t, scope.DefaultOptions()).discovered(stage.Encode(d))
	targets := out.list[0].record.Targets
	if !proto.Equal(targets[0].Entry, says) || targets[1].Entry != nil || targets[0].Via != weftpb.Via_VIA_SITEMAP || targets[0].Depth != 1 {
		t.Errorf("targets are %v", targets)
	}
}

func TestSeedsThatAreSitemaps(t *testing.T) {
	n := newNormalizer(t, scope.DefaultOptions())
	out, _ := n.seeds([]byte(`{"url": "https://a.example/s.xml", "sitemap": true}`))
	if target := out.list[0].record.Targets[0]; target.Sitemap.GetLevel() != 1 || target.Sitemap.GetHost() != "" || target.Via != weftpb.Via_VIA_SEED {
		t.Errorf("a sitemap is seeded as %v", target)
	}
	n.env.Definition.Sitemaps = "off"
	out, _ = n.seeds([]byte(`{"url": "https://a.example/s.xml", "sitemap": true}`))
	if target := out.list[0].record.Targets[0]; target.Sitemap != nil {
		t.Errorf("without sitemaps it is seeded as %v", target)
	}
}
