package parse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/parsedschema"
	"github.com/weftcrawl/weft/topics"
)

// pageOf is the record in parsed of an exchange, and its size.
func pageOf(t *testing.T, f *weftpb.Fetched) (page codecs.Parsed, bytes int) {
	t.Helper()
	return pageUnder(t, topics.Definition{}, f)
}

// pageUnder is pageOf in a crawl with a definition. The page must be as the schema says.
func pageUnder(t *testing.T, d topics.Definition, f *weftpb.Fetched) (page codecs.Parsed, bytes int) {
	t.Helper()
	d.Crawl = "test"
	transform, err := New(stage.Env{Names: topics.Loop("test"), Definition: d, Meter: stage.NoMeter{}})
	if err != nil {
		t.Fatal(err)
	}
	out, reason := transform(&kgo.Record{Key: []byte("a.example"), Value: stage.Encode(f)})
	if reason != "" || len(out) == 0 || !strings.HasSuffix(out[0].Topic, "parsed") {
		t.Fatalf("%q, %d records", reason, len(out))
	}
	var value any
	if err := json.Unmarshal(out[0].Value, &value); err != nil {
		t.Fatal(err)
	}
	if err := parsedschema.Compiled().Validate(value); err != nil {
		t.Errorf("%s: %v", f.Request.Target.Url, err)
	}
	if err := json.Unmarshal(out[0].Value, &page); err != nil {
		t.Fatal(err)
	}
	return page, len(out[0].Value)
}

const rss = `<rss><channel><title>News</title><link>/</link><atom:link rel="self" href="/feed"/><atom:link rel="hub" href="https://hub.example/"/>
<item><title>One</title><link>/1</link><pubDate>Thu, 01 Feb 2024 03:00:00 +0000</pubDate><author>Ann</author><description>&lt;b>First&lt;/b></description></item>
<item><title>Two</title><link>https://b.example/2</link><enclosure url="/2.mp3"/></item></channel></rss>`

// A feed is a page with the entries as its text, its links and its data.
func TestFeedIsAPage(t *testing.T) {
	for _, media := range []string{"application/rss+xml; charset=utf-8", "text/xml", "application/xml", "text/rss+xml", "application/x-rss+xml", "application/octet-stream", "text/html"} {
		f := file("https://a.example/feed", media, 200, rss, nil)
		page, _ := pageOf(t, f)
		want := &codecs.ParsedFeed{
			Kind: "rss", Link: "https://a.example/", Self: "https://a.example/feed", Hubs: []string{"https://hub.example/"}, Entries: []codecs.ParsedEntry{
				{URL: "https://a.example/1", Title: "One", Author: "Ann", Date: "Thu, 01 Feb 2024 03:00:00 +0000", Summary: "First"},
				{URL: "https://b.example/2", Title: "Two"},
			},
		}
		if diff := cmp.Diff(want, page.Feed); diff != "" || page.Title != "News" || page.Text != "One\nFirst\nTwo" || page.Unparsed != "" {
			t.Errorf("%s: %q, %q, %q\n%s", media, page.Title, page.Text, page.Unparsed, diff)
		}
		var kinds []string
		for _, l := range page.Links {
			kinds = append(kinds, l.Kind+" "+l.URL)
		}
		expect(t, media, kinds, "alternate https://a.example/", "feed https://a.example/1", "feed https://b.example/2", "media https://a.example/2.mp3")
		links, _ := made(t, topics.Definition{}, f)
		links = slices.DeleteFunc(links, func(l string) bool { return strings.HasPrefix(l, "evidence") })
		expect(t, media, links, "/", "/1", "https://b.example/2")
		links, _ = made(t, topics.Definition{FollowLinks: []string{"a"}}, f)
		if slices.Contains(links, "/1") {
			t.Errorf("entries are followed although their kind is not: %v", links)
		}
	}
}

// Bytes are a feed only if they begin so.
func TestBytesThatNameAFeed(t *testing.T) {
	for _, body := range []string{"Feeds begin with <rss>.", "\x00<rss>", "<svg><rss>"} {
		if page, _ := pageOf(t, file("https://a.example/notes", "application/octet-stream", 200, body, nil)); page.Feed != nil {
			t.Errorf("%q is a feed", body)
		}
	}
}

// What the header says of a feed counts as for any page.
func TestFeedObeysItsHeader(t *testing.T) {
	f := file("https://a.example/feed", "application/rss+xml", 200, rss, nil)
	f.Headers = append(f.Headers, &weftpb.Header{Name: "X-Robots-Tag", Value: "noindex, nofollow"})
	if page, _ := pageOf(t, f); !page.Robots.NoIndex || !page.Robots.NoFollow {
		t.Errorf("robots are %+v", page.Robots)
	}
	if links, _ := made(t, topics.Definition{}, f); slices.Contains(links, "/1") {
		t.Errorf("a feed that asks for nofollow names %v", links)
	}
}

// Hubs of the header come before those of the feed, each once, and the header says what the topic is
// (WebSub section 4).
func TestHubsOfTheHeader(t *testing.T) {
	f := file("https://a.example/feed", "application/rss+xml", 200, rss, nil)
	f.Headers = append(f.Headers,
		&weftpb.Header{Name: "Link", Value: `<https://first.example/>; rel="hub", </topic>; rel=self`},
		&weftpb.Header{Name: "Link", Value: `<https://hub.example/>; rel="x HUB", <https://other.example/>; rel=hub; anchor="https://b.example/"`})
	page, _ := pageOf(t, f)
	expect(t, "hubs", page.Feed.Hubs, "https://first.example/", "https://hub.example/")
	if page.Feed.Self != "https://a.example/topic" {
		t.Errorf("the topic is %q", page.Feed.Self)
	}
}

// The record of the largest feed fits its topic, however much of it is escaped.
func TestFeedsFit(t *testing.T) {
	var b strings.Builder
	b.WriteString("<rss><channel>")
	for i := range 2000 {
		long := strings.Repeat("&#1;", 1024)
		fmt.Fprintf(&b, "<item><title>%s</title><link>/%d/%s</link><description>%s</description><author>%s</author></item>", long, i, strings.Repeat("x", 4000), long, long)
	}
	page, bytes := pageOf(t, file("https://a.example/feed", "application/rss+xml", 200, b.String(), nil))
	if len(page.Feed.Entries)+page.Feed.EntriesOmitted != 2000 || bytes > 12<<20 {
		t.Errorf("%d entries, %d omitted, %d bytes", len(page.Feed.Entries), page.Feed.EntriesOmitted, bytes)
	}
}

// The charset of the header counts for feeds and for sitemaps (TestEncodings of package sitemap has the rules).
func TestCharsetOfTheHeader(t *testing.T) {
	const cyrillic = "https://a.example/\xe4"
	page, _ := pageOf(t, file("https://a.example/feed", "application/rss+xml; charset=windows-1251", 200, "<rss><channel><title>\xe4</title><item><link>"+cyrillic+"</link></item></channel></rss>", nil))
	if page.Title != "д" || page.Feed.Entries[0].URL != "https://a.example/%D0%B4" {
		t.Errorf("a feed: %q, %+v", page.Title, page.Feed.Entries)
	}
	f := file("https://a.example/s.xml", "text/xml; charset=windows-1251", 200, "<urlset><url><loc>"+cyrillic+"</loc></url></urlset>", &weftpb.Sitemap{Level: 1, Host: "a.example"})
	links, _ := made(t, topics.Definition{}, f)
	expect(t, "a sitemap", links, "https://a.example/д")
}

func TestOtherXMLIsNoFeed(t *testing.T) {
	for media, body := range map[string]string{"application/xml": "<x/>", "application/rss+xml": "<html>", "application/json": "{}"} {
		if page, _ := pageOf(t, file("https://a.example/x", media, 200, body, nil)); page.Feed != nil || page.Unparsed == "" && page.Structure == nil {
			t.Errorf("%s: %+v, %q", media, page.Feed, page.Unparsed)
		}
	}
}
