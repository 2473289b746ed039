package normalize

import (
	"slices"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize/scope"
)

// forming is a normalizer with the form of a new crawl.
func forming(t *testing.T) normalizer {
	t.Helper()
	n := newNormalizer(t, scope.DefaultOptions())
	form, err := urls.NewForm(urls.Options{Strip: urls.DefaultStrip()})
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
		got, reason := n.discovered(stage.Encode(c.record))
		if reason != "" || !slices.Equal(shown(got), []string{c.want}) {
			t.Errorf("%s: %q and reason %q, want %q", c.name, shown(got), reason, c.want)
		}
	}
	got, reason := n.seeds([]byte("https://h.example/?gclid=1"))
	if want := "h.example: https://h.example/ seed 0"; reason != "" || !slices.Equal(shown(got), []string{want}) {
		t.Errorf("a seed: %q and reason %q", shown(got), reason)
	}
}
