package parse

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// TestDirectivesAreRecorded has a page, a feed and a text whose header and robots.txt speak of their
// use, in a crawl that respects that and in one that does not.
func TestDirectivesAreRecorded(t *testing.T) {
	for media, body := range map[string]string{
		"text/html": "<title>T</title><p>x <a href=/b>y</a>", "application/rss+xml": rss, "text/markdown": "# T\n\n[y](/b)\n", "application/json": `{"a": 1}`,
	} {
		for _, respect := range [][]string{nil, {"ai-train=n"}} {
			f := file("https://a.example/x", media, 200, body, nil)
			f.Headers = append(f.Headers, &weftpb.Header{Name: "content-usage", Value: "search=y"})
			f.Request.Usage = "content-signal: ai-train=no\n"
			transform, err := New(stage.Env{Names: topics.Loop("test"), Definition: topics.Definition{Crawl: "test", Respect: respect}, Meter: stage.NoMeter{}})
			if err != nil {
				t.Fatal(err)
			}
			out, _ := transform(&kgo.Record{Key: []byte("a.example"), Value: stage.Encode(f)})
			var page codecs.Parsed
			if err := json.Unmarshal(out[0].Value, &page); err != nil {
				t.Fatal(err)
			}
			directives := []codecs.ParsedDirective{
				{Source: "header", Field: "content-usage", Value: "search=y"}, {Source: "robots.txt", Field: "content-signal", Value: "ai-train=no"},
			}
			if diff := cmp.Diff(directives, page.Directives); diff != "" {
				t.Errorf("%s: %s", media, diff)
			}
			if diff := cmp.Diff(map[string]string{"search": "y", "train-ai": "n"}, page.Usage); diff != "" {
				t.Errorf("%s: %s", media, diff)
			}
			left := page.Unparsed == "usage_refused" && page.Text == "" && page.Title == "" && len(page.Headings) == 0 && (page.Feed == nil || len(page.Feed.Entries) == 0)
			if left != (respect != nil) {
				t.Errorf("%s, respecting %v: %q, %q, %q, %+v", media, respect, page.Unparsed, page.Title, page.Text, page.Feed)
			}
			for _, l := range page.Links {
				if respect != nil && l.Text != "" {
					t.Errorf("%s: the link to %s has a text", media, l.URL)
				}
			}
		}
	}
}
