package parse

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/parse/pdf"
	"github.com/weftcrawl/weft/topics"
)

// FuzzHandlers gives any body with any media type to the handlers. Its record is JSON and within
// bounds, and an entry of a sitemap has a URL. Bodies that look like PDF are left to package pdf: to
// compile PDFium takes seconds in each process.
func FuzzHandlers(f *testing.F) {
	add := func(media, path string) {
		body, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(media, body, len(body)%2 == 0)
	}
	add("text/html", "document/testdata/pages/article.html")
	add(typeOfWord, "office/testdata/report.docx")
	add("application/octet-stream", "office/testdata/numbers.ods")
	add("application/rtf", "office/testdata/report.rtf")
	add("image/png", "image/testdata/picture.png")
	for media, body := range map[string]string{
		"application/rss+xml": rss, "application/xml": "<urlset><url><loc>https://a.example/1</loc></url></urlset>", "text/markdown": "# a\n[b](c)", "application/json": `{"a":["https://b.example/"]}`,
		"text/csv": "a,b\n1,2\n", "text/plain": "package main\n", "image/svg+xml": "<svg width='3'><title>t</title></svg>", "application/feed+json": `{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a"}]}`,
		"": "\x1f\x8b", "audio/ogg": "OggS",
	} {
		f.Add(media, []byte(body), false)
		f.Add(media, []byte(body), true)
	}
	transform, err := New(stage.Env{Names: topics.Loop("fuzz"), Definition: topics.Definition{Crawl: "fuzz", MainText: true, Markdown: true, ImagePlace: true}, Meter: stage.NoMeter{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, media string, body []byte, sitemap bool) {
		if pdf.Looks(body) {
			return
		}
		x := file("https://a.example/f.go", media, 200, string(body), nil)
		if x.Headers[0].Value = strings.ToValidUTF8(media, ""); sitemap {
			x.Request.Target.Sitemap = &weftpb.Sitemap{Level: 1, Host: "a.example"}
		}
		out, reason := transform(&kgo.Record{Key: []byte("a.example"), Value: stage.Encode(x)})
		if reason != "" {
			t.Fatalf("rejected for %q", reason)
		}
		for _, o := range out {
			if len(o.Value) > 16<<20 {
				t.Errorf("a record of %d bytes", len(o.Value))
			}
			if !strings.HasSuffix(o.Topic, "parsed") {
				continue
			}
			var page codecs.Parsed
			if err := json.Unmarshal(o.Value, &page); err != nil {
				t.Fatalf("%s: %v", o.Value, err)
			}
			if page.Unparsed != "" && page.Text != "" {
				t.Errorf("it is unparsed because %q, and has the text %q", page.Unparsed, page.Text)
			}
		}
	})
}
