package processors

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/urls"
)

// forming is a normalizer with the form of a new crawl.
func forming(t *testing.T) normalizer {
	t.Helper()
	n := newNormalizer(t, scope.DefaultOptions())
	form, err := urls.NewForm(urls.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	n.form = form
	return n
}

func TestURLsTakeTheForm(t *testing.T) {
	n := forming(t)
	for _, c := range []struct {
		name   string
		record *weftpb.Discovered
		want   string
	}{
		{"a link", &weftpb.Discovered{
			Source: "https://h.example/a", Via: weftpb.Via_VIA_LINK, Links: []*weftpb.Link{{Url: "b;jsessionid=1?utm_source=x&y"}},
		}, "h.example: https://h.example/b?y link 1"},
		{"a query in the encoding of the page", &weftpb.Discovered{
			Source: "https://h.example/a", Via: weftpb.Via_VIA_LINK, Charset: "windows-1251", Links: []*weftpb.Link{{Url: "/д?д"}},
		}, "h.example: https://h.example/%D0%B4?%E4 link 1"},
		{"a redirect", &weftpb.Discovered{
			Source: "https://h.example/a", Via: weftpb.Via_VIA_REDIRECT, Links: []*weftpb.Link{{Url: "/b?PHPSESSID=1"}},
		}, "h.example: https://h.example/b redirect 0"},
		{"a redirect to itself with a session id", &weftpb.Discovered{
			Source: "https://h.example/a", Via: weftpb.Via_VIA_REDIRECT, Links: []*weftpb.Link{{Url: "/a?PHPSESSID=1"}},
		}, "h.example: https://h.example/a?PHPSESSID=1 redirect 0"},
		{"and from there with another", &weftpb.Discovered{
			Source: "https://h.example/a?PHPSESSID=1", Via: weftpb.Via_VIA_REDIRECT, Links: []*weftpb.Link{{Url: "/a?PHPSESSID=2"}},
		}, "h.example: https://h.example/a redirect 0"},
		{"a link to itself with a session id", &weftpb.Discovered{
			Source: "https://h.example/a", Via: weftpb.Via_VIA_LINK, Links: []*weftpb.Link{{Url: "/a?PHPSESSID=1"}},
		}, "h.example: https://h.example/a link 1"},
	} {
		got, reason := n.record(&kgo.Record{Topic: n.env.Names.Discovered, Value: encode(c.record)})
		if reason != "" || !slices.Equal(shown(got), []string{c.want}) {
			t.Errorf("%s: %q and reason %q, want %q", c.name, shown(got), reason, c.want)
		}
	}
	got, reason := n.record(&kgo.Record{Topic: n.env.Names.Seeds, Value: []byte("https://h.example/?gclid=1")})
	if want := "h.example: https://h.example/ seed 0"; reason != "" || !slices.Equal(shown(got), []string{want}) {
		t.Errorf("a seed: %q and reason %q", shown(got), reason)
	}
}

// Every part of what a page names says in which encoding its links are.
func TestEncodingTravels(t *testing.T) {
	long := strings.Repeat("x", maxDiscoveredBytes/2)
	page := &parse.Page{Charset: "windows-1251", Links: []parse.Link{{URL: "?д" + long, Follow: true}, {URL: "?д" + long, Follow: true}}}
	parts := split(discovered(exchange(), page))
	if len(parts) != 2 || parts[0].Charset != page.Charset || parts[1].Charset != page.Charset {
		t.Errorf("%d parts, %q", len(parts), parts)
	}
	if page.Charset = "utf-8"; discovered(exchange(), page).Charset != "" {
		t.Error("UTF-8 is said")
	}
}
