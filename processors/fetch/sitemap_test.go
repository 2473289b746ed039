package fetch

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// A sitemap may be larger than a page, and what was fetched before is asked for only if it
// has changed.
func TestRequestOf(t *testing.T) {
	q := &weftpb.Request{Target: &weftpb.Target{Url: "https://a.example/s.xml", Sitemap: &weftpb.Sitemap{Level: 1}}, Etag: `"x"`, LastModified: "then"}
	if got := RequestOf(q); got.Kind != httpclient.KindSitemap || got.ETag != `"x"` || got.LastModified != "then" || got.URL != q.Target.Url {
		t.Errorf("a sitemap is asked for by %+v", got)
	}
	if got := RequestOf(&weftpb.Request{Target: &weftpb.Target{Url: "https://a.example/"}}); got.Kind != httpclient.KindPage || got.ETag+got.LastModified != "" {
		t.Errorf("a page is asked for by %+v", got)
	}
}

// The outcome of a sitemap has what makes the next request conditional, if that can be sent.
func TestOutcomeOfASitemap(t *testing.T) {
	v := &hostqueue.Visit{Visit: &weftpb.Visit{Requests: []*weftpb.Request{
		{Target: &weftpb.Target{Url: "https://a.example/s.xml", Sitemap: &weftpb.Sitemap{}}}, {Target: &weftpb.Target{Url: "https://a.example/"}},
	}}}
	x := &httpclient.Exchange{Status: 200, Headers: []httpclient.Header{
		{Name: "etag", Value: `W/"1"`}, {Name: "Last-Modified", Value: "Mon, 02 Jan 2006 15:04:05 GMT"}, {Name: "Content-Type", Value: "Text/XML; charset=utf-8"},
	}}
	if o := OutcomeOf(v, 0, x); o.Etag != `W/"1"` || o.LastModified != "Mon, 02 Jan 2006 15:04:05 GMT" || o.MediaType != "text/xml" {
		t.Errorf("a sitemap has %v", o)
	}
	if o := OutcomeOf(v, 1, x); o.Etag+o.LastModified+o.MediaType != "" {
		t.Errorf("a page has %v", o)
	}
	x.Headers = []httpclient.Header{{Name: "ETag", Value: strings.Repeat("x", 300)}, {Name: "Last-Modified", Value: "a"}, {Name: "Last-Modified", Value: "b"}}
	if o := OutcomeOf(v, 0, x); o.Etag+o.LastModified != "" {
		t.Errorf("what cannot be sent is kept: %v", o)
	}
}

// A robots.txt is asked for because of a URL that waits; if that is the sitemap of another
// host, the origin may be none of the crawl.
func TestRobotsOf(t *testing.T) {
	for name, c := range map[string]struct {
		asked  *weftpb.Target
		origin string
		root   string
		aside  bool
	}{
		"for a page":                    {&weftpb.Target{Url: "https://a.example/robots.txt", ScopeRoot: "https://a.example/x/"}, "https://a.example", "https://a.example/x/", false},
		"for its own sitemap":           {&weftpb.Target{Url: "https://a.example/robots.txt", Sitemap: &weftpb.Sitemap{Host: "a.example"}}, "https://a.example", "", false},
		"for that of its host with www": {&weftpb.Target{Url: "https://www.a.example/robots.txt", Sitemap: &weftpb.Sitemap{Host: "a.example"}}, "https://www.a.example", "", false},
		"for a sitemap of a user":       {&weftpb.Target{Url: "https://a.example/robots.txt", Sitemap: &weftpb.Sitemap{}}, "https://a.example", "", false},
		"for the sitemap of another":    {&weftpb.Target{Url: "https://cdn.example/robots.txt", Sitemap: &weftpb.Sitemap{Host: "a.example"}}, "https://cdn.example", "", true},
		"for another domain":            {&weftpb.Target{Url: "https://b.example/robots.txt", Via: weftpb.Via_VIA_ROBOTS, ScopeRoot: "http://a.example", Depth: 1}, "http://a.example", "", false},
	} {
		if got := RobotsOf(c.asked); got.Origin != c.origin || got.ScopeRoot != c.root || got.Aside != c.aside {
			t.Errorf("%s: %v", name, got)
		}
	}
}
