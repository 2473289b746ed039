package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// made is what the stage makes of an exchange: the links of discovered, and whether there is a
// page.
func made(t *testing.T, d topics.Definition, f *weftpb.Fetched) (links []string, page bool) {
	t.Helper()
	d.Crawl = "test"
	transform, err := New(stage.Env{Names: topics.Loop("test"), Definition: d, Meter: stage.NoMeter{}})
	if err != nil {
		t.Fatal(err)
	}
	out, reason := transform(&kgo.Record{Key: []byte("a.example"), Value: stage.Encode(f)})
	if reason != "" {
		t.Fatal(reason)
	}
	for _, o := range out {
		if strings.HasSuffix(o.Topic, "parsed") {
			page = true
			continue
		}
		var record weftpb.Discovered
		if err := proto.Unmarshal(o.Value, &record); err != nil {
			t.Fatal(err)
		}
		if len(o.Value) > 1<<20 {
			t.Errorf("a record of %d bytes", len(o.Value))
		}
		for _, e := range record.Evidence {
			links = append(links, "evidence "+e.Kind.String())
		}
		for _, l := range record.Links {
			line := l.Url
			if s := l.Sitemap; s != nil {
				line = fmt.Sprintf("%s sitemap %d of %q", line, s.Level, s.Host)
				if s.Guessed {
					line += " guessed"
				}
				if s.Root != "" {
					line += " from " + s.Root
				}
			}
			if l.Entry.GetLastmodMs() != 0 || l.Entry.GetPriority() != 0 || l.Entry.GetChangeFrequency() != 0 {
				line += fmt.Sprintf(" p%d m%d f%d", l.Entry.Priority, l.Entry.LastmodMs, l.Entry.ChangeFrequency)
			}
			links = append(links, line)
		}
	}
	return links, page
}

func expect(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func robotsExchange(origin, url string, status uint32, body string) *weftpb.Fetched {
	return &weftpb.Fetched{
		RobotsOf: &weftpb.RobotsOf{Origin: origin},
		Robots: &weftpb.Fetched{
			Request: &weftpb.Request{Target: &weftpb.Target{Url: url}}, Outcome: &weftpb.Outcome{Status: status, StartedMs: 1}, Body: []byte(body),
		},
	}
}

// What a robots.txt names, and what is guessed where it names nothing.
func TestSitemapsOfRobotsTxt(t *testing.T) {
	const a = "https://a.example"
	guesses := []string{a + `/sitemap.xml sitemap 1 of "a.example" guessed`, a + `/sitemap_index.xml sitemap 1 of "a.example" guessed`}
	lines := "User-agent: *\nDisallow: /x\nsitemap:  https://a.example/s.xml \nSITEMAP: /rel.xml\nSitemap: https://cdn.example/s.xml\nSitemap: /rel.xml\n"
	for name, c := range map[string]struct {
		f    *weftpb.Fetched
		want []string
	}{
		"named": {robotsExchange(a, a+"/robots.txt", 200, lines), []string{
			a + `/s.xml sitemap 1 of "a.example"`, `/rel.xml sitemap 1 of "a.example"`, `https://cdn.example/s.xml sitemap 1 of "a.example"`,
		}},
		"named by where it redirects":   {robotsExchange(a, "https://b.example/robots.txt", 200, "Sitemap: https://b.example/s.xml"), []string{`https://b.example/s.xml sitemap 1 of "a.example"`}},
		"none named":                    {robotsExchange(a, a+"/robots.txt", 200, "User-agent: *\n"), guesses},
		"no robots.txt":                 {robotsExchange(a, a+"/robots.txt", 404, "Sitemap: https://a.example/no.xml"), guesses},
		"forbidden":                     {robotsExchange(a, a+"/robots.txt", 403, ""), guesses},
		"none named where it redirects": {robotsExchange(a, "https://www.a.example/robots.txt", 200, ""), nil},
		"an error":                      {robotsExchange(a, a+"/robots.txt", 500, ""), nil},
		"too many requests":             {robotsExchange(a, a+"/robots.txt", 429, ""), nil},
		"no answer":                     {robotsExchange(a, a+"/robots.txt", 0, ""), nil},
		"the word of a page":            {robotsExchange(a, a+"/robots.txt", 200, "<html>"), guesses},
		"a line that is cut": {func() *weftpb.Fetched {
			f := robotsExchange(a, a+"/robots.txt", 200, "Sitemap: /a.xml\nSitemap: /b")
			f.Robots.Outcome.Truncated = true
			return f
		}(), []string{`/a.xml sitemap 1 of "a.example"`}},
		"a redirect": {func() *weftpb.Fetched {
			f := robotsExchange(a, a+"/robots.txt", 301, "")
			f.Robots.Location = "https://b/"
			return f
		}(), nil},
		"of an origin outside of the crawl": {func() *weftpb.Fetched {
			f := robotsExchange(a, a+"/robots.txt", 200, lines)
			f.RobotsOf.Aside = true
			return f
		}(), []string{
			a + `/s.xml sitemap 1 of "a.example"`, `/rel.xml sitemap 1 of "a.example"`, `https://cdn.example/s.xml sitemap 1 of "a.example"`,
		}},
		"a check": {func() *weftpb.Fetched {
			f := robotsExchange(a, a+"/robots.txt", 200, lines)
			f.RobotsOf = nil
			return f
		}(), nil},
	} {
		got, page := made(t, topics.Definition{}, c.f)
		expect(t, name, got, c.want...)
		if off, _ := made(t, topics.Definition{Sitemaps: topics.NoSitemaps}, c.f); off != nil || page {
			t.Errorf("%s: without sitemaps %v, page %v", name, off, page)
		}
	}
}

// file is the exchange of a URL.
func file(url, media string, status uint32, body string, sitemap *weftpb.Sitemap) *weftpb.Fetched {
	return &weftpb.Fetched{
		Id: "x", Request: &weftpb.Request{Target: &weftpb.Target{Url: url, Depth: 1, Via: weftpb.Via_VIA_SITEMAP, Sitemap: sitemap}},
		Outcome: &weftpb.Outcome{Status: status, StartedMs: 1}, Headers: []*weftpb.Header{{Name: "Content-Type", Value: media}}, Body: []byte(body),
	}
}

// What the exchange of a sitemap makes: entries and no page.
func TestSitemapMakesEntries(t *testing.T) {
	const url = "https://a.example/s.xml"
	named, guessed := &weftpb.Sitemap{Level: 1, Host: "a.example"}, &weftpb.Sitemap{Level: 1, Host: "a.example", Guessed: true}
	urlset := `<urlset><url><loc>https://a.example/1</loc><lastmod>2020-01-02</lastmod><priority>0.8</priority><changefreq>daily</changefreq></url>
<url><loc>www.a.example/2</loc><xhtml:link rel="alternate" hreflang="de" href="https://de.example/2"/><image:image><image:loc>/i.png</image:loc></image:image></url>
<url><loc>a.example/3</loc></url><url><loc>//b.example/4</loc></url><url><loc>other/5</loc></url><url><loc>https://a.example/1</loc></url></urlset>`
	index := `<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>`
	for name, c := range map[string]struct {
		f    *weftpb.Fetched
		want []string
		page bool
	}{
		"a sitemap": {file(url, "application/xml", 200, urlset, named), []string{
			"https://a.example/1 p801 m1577923200000 f3", "https://www.a.example/2", "https://de.example/2", "https://a.example/3", "//b.example/4", "other/5",
		}, false},
		"an index": {file(url, "text/html", 200, index, named), []string{`https://a.example/1.xml sitemap 2 of "a.example" from ` + url}, false},
		"the third index in a row": {file(url, "text/xml", 200, index, &weftpb.Sitemap{Level: 3, Host: "a.example", Root: "https://a.example/0.xml"}),
			[]string{`https://a.example/1.xml sitemap 4 of "a.example" from https://a.example/0.xml`}, false},
		"the fourth index in a row":      {file(url, "text/xml", 200, index, &weftpb.Sitemap{Level: 4, Host: "a.example"}), nil, false},
		"a list":                         {file(url, "text/plain", 200, "https://a.example/1\n", named), []string{"https://a.example/1"}, false},
		"a feed":                         {file(url, "application/rss+xml", 200, "<rss><item><link>https://a.example/1</link></item></rss>", named), []string{"https://a.example/1"}, false},
		"a guess":                        {file(url, "text/xml", 200, index, guessed), []string{`https://a.example/1.xml sitemap 2 of "a.example" from ` + url}, false},
		"a guess that is missing":        {file(url, "text/html", 404, "<p>no", guessed), nil, false},
		"a guess with a page":            {file(url, "text/html", 200, "<p>no <a href=/x>x</a>", guessed), nil, false},
		"a sitemap that is missing":      {file(url, "text/html", 404, "<p>no", named), nil, false},
		"a sitemap that is a page":       {file(url, "text/html", 200, "<p>no <a href=/x>x</a>", named), []string{"evidence KIND_SHORT", "/x"}, true},
		"a sitemap that is a picture":    {file(url, "image/png", 200, "\x89PNG", named), nil, false},
		"a sitemap that has not changed": {file(url, "", 304, "", named), nil, false},
		"a page that is a sitemap":       {file(url, "application/xml", 200, "<urlset><url><loc>https://a.example/1</loc></url></urlset>", nil), []string{"https://a.example/1"}, true},
		"a page that is other XML":       {file(url, "application/xml", 200, "<x><url><loc>https://a.example/1</loc></url></x>", nil), nil, true},
	} {
		got, page := made(t, topics.Definition{}, c.f)
		expect(t, name, got, c.want...)
		if page != c.page {
			t.Errorf("%s: page %v", name, page)
		}
	}
	images, _ := made(t, topics.Definition{FollowLinks: []string{"a", "image"}}, file(url, "text/xml", 200, urlset, named))
	if !slices.Contains(images, "/i.png") || slices.Contains(images, "https://de.example/2") {
		t.Errorf("with images and without alternates: %v", images)
	}
}

// A sitemap redirects to a sitemap; a guess only to what looks like one.
func TestSitemapRedirects(t *testing.T) {
	named, guessed := &weftpb.Sitemap{Level: 1, Host: "a.example"}, &weftpb.Sitemap{Level: 1, Host: "a.example", Guessed: true}
	for _, c := range []struct {
		told *weftpb.Sitemap
		to   string
		want []string
	}{
		{named, "https://b.example/x", []string{`https://b.example/x sitemap 1 of "a.example" from https://a.example/sitemap.xml`}},
		{guessed, "https://a.example/sitemaps/1", nil},
		{guessed, "https://a.example/", nil},
		{guessed, "https://a.example/404.html", nil},
		{guessed, "https://a.example/wp-sitemap.xml", []string{`https://a.example/wp-sitemap.xml sitemap 1 of "a.example" guessed from https://a.example/sitemap.xml`}},
		{guessed, "https://www.a.example/files/map.xml.gz?v=1", []string{`https://www.a.example/files/map.xml.gz?v=1 sitemap 1 of "a.example" guessed from https://a.example/sitemap.xml`}},
	} {
		f := file("https://a.example/sitemap.xml", "", 301, "", c.told)
		f.Location = c.to
		got, _ := made(t, topics.Definition{}, f)
		expect(t, c.to, got, c.want...)
	}
}

// A crawl that takes pages from sitemaps alone follows no links, and its records say so.
func TestSitemapsOnly(t *testing.T) {
	f := file("https://a.example/1", "text/html", 200, "<p>A page with <a href=/x>a link</a>", nil)
	got, page := made(t, topics.Definition{Sitemaps: topics.OnlySitemaps}, f)
	if slices.Contains(got, "/x") || !page {
		t.Errorf("%v, page %v", got, page)
	}
	f.Location, f.Outcome.Status = "https://a.example/2", 302
	if got, _ := made(t, topics.Definition{Sitemaps: topics.OnlySitemaps}, f); !slices.Contains(got, "https://a.example/2") {
		t.Errorf("a redirect names %v", got)
	}
}

// Sitemaps that were queued when a crawl turned sitemaps off name nothing, and are no pages.
func TestSitemapsTurnedOff(t *testing.T) {
	off := topics.Definition{Sitemaps: topics.NoSitemaps}
	named := &weftpb.Sitemap{Level: 1, Host: "a.example"}
	list := `<urlset><url><loc>https://a.example/1</loc></url></urlset>`
	if got, page := made(t, off, file("https://a.example/s.xml", "application/xml", 200, list, named)); got != nil || page {
		t.Errorf("a sitemap: %v, page %v", got, page)
	}
	if _, page := made(t, off, file("https://a.example/s", "text/html", 200, "<p>A page", named)); !page {
		t.Error("HTML in place of a sitemap is no page")
	}
	if _, page := made(t, off, file("https://a.example/s.xml", "application/xml", 200, list, nil)); !page {
		t.Error("XML that a page links to is no page")
	}
}

// A sitemap with alternates without end names a bounded number of URLs, in records that fit.
func TestSitemapIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("<urlset>")
	for i := range 1200 {
		fmt.Fprintf(&b, "<url><loc>https://a.example/%d</loc>", i)
		for j := range 200 {
			fmt.Fprintf(&b, `<xhtml:link rel="alternate" hreflang="de" href="https://a.example/%d/%d?%s"/>`, i, j, strings.Repeat("x", 20))
		}
		b.WriteString("</url>")
	}
	got, _ := made(t, topics.Definition{}, file("https://a.example/s.xml", "text/xml", 200, b.String(), &weftpb.Sitemap{Level: 1, Host: "a.example"}))
	if len(got) != maxSitemapLinks {
		t.Errorf("%d links, want %d", len(got), maxSitemapLinks)
	}
}
