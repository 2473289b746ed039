package parse

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/topics"
)

// structuredMeter counts sources and problems.
type structuredMeter struct {
	stage.NoMeter
	counted *[]string
}

func (m structuredMeter) Structured(source string) { *m.counted = append(*m.counted, source) }

func (m structuredMeter) StructuredProblem(source, problem string) {
	*m.counted = append(*m.counted, source+" "+problem)
}

const annotated = `<base href=/b/><title>T</title><meta property=og:title content=T><p itemscope itemtype=http://schema.org/Offer>` +
	`<a itemprop=url href="c?utm_source=x#d">x</a><b itemprop=price>12</b></p><p vocab=http://schema.org/ typeof=Person><b property=name>Ann</b></p>` +
	`<script type=application/ld+json>{"name":</script>`

// Records of pages have structured data, unless the crawl does not ask for it, or the page must not be used.
func TestStructuredData(t *testing.T) {
	for name, c := range map[string]struct {
		media  string
		d      topics.Definition
		usage  string
		silent bool
	}{
		"by default":        {media: "text/html"},
		"XHTML":             {media: "application/xhtml+xml"},
		"asked for":         {media: "text/html", d: topics.Definition{StructuredData: topics.UseStructuredData}},
		"with a main text":  {media: "text/html", d: topics.Definition{MainText: true}},
		"not asked for":     {media: "text/html", d: topics.Definition{StructuredData: topics.NoStructuredData}, silent: true},
		"another format":    {media: "text/plain", silent: true},
		"not to be used":    {media: "text/html", d: topics.Definition{Respect: []string{"ai-train=n"}}, usage: "content-signal: ai-train=no\n", silent: true},
		"an unknown format": {media: "application/x-y", silent: true},
	} {
		var counted []string
		f := file("https://a.example/x", c.media, 200, annotated, nil)
		f.Request.Usage = c.usage
		page := definedPage(t, f, c.d, structuredMeter{counted: &counted})
		if c.silent {
			if page.Structured != nil || counted != nil {
				t.Errorf("%s: %+v, counted %q", name, page.Structured, counted)
			}
			continue
		}
		if page.Structured == nil || len(page.Structured.Items) != 2 {
			t.Errorf("%s: %+v", name, page.Structured)
			continue
		}
		if url := page.Structured.Items[0].Properties["url"][0].URL; url != "https://a.example/b/c?utm_source=x#d" {
			t.Errorf("%s: the URL is %q", name, url)
		}
		if want := []string{"microdata", "rdfa", "open-graph", "json-ld bad_json"}; !slices.Equal(counted, want) {
			t.Errorf("%s: counted %q, want %q", name, counted, want)
		}
	}
}

// The header field Last-Modified is the last choice.
func TestStructuredLastModified(t *testing.T) {
	f := file("https://a.example/x", "text/html", 200, "<p>text", nil)
	f.Headers = append(f.Headers, &weftpb.Header{Name: "last-modified", Value: "Wed, 21 Oct 2015 07:28:00 GMT"})
	page := definedPage(t, f, topics.Definition{}, stage.NoMeter{})
	if page.Structured == nil || page.Structured.Modified == nil || page.Structured.Modified.Source != "http" {
		t.Errorf("%+v", page.Structured)
	}
}

// A page that has no tree says that its annotations were not read.
func TestStructuredDataWithoutTree(t *testing.T) {
	var body string
	for range 600 {
		body += "<div>"
	}
	page := definedPage(t, file("https://a.example/x", "text/html", 200, body+annotated, nil), topics.Definition{}, stage.NoMeter{})
	if page.Structured == nil || page.Structured.Problems[1].Source != "html" || page.Structured.Problems[1].Problem != document.TooDeep {
		t.Errorf("%+v", page.Structured)
	}
}

// BenchmarkStructuredData takes turns between a stage that reads structured data and one that does not, and
// reports the ratio of the two.
func BenchmarkStructuredData(b *testing.B) {
	long := ""
	for range 260 {
		long += "<p class=a id=b>There are some words here, and there are <b>some more</b>, which say nothing, <a href=c title=d>but link</a>.</p>"
	}
	pages := map[string]string{"none": "<title>T</title>" + long}
	for name, path := range map[string]string{"json-ld": "yoast-graph", "open-graph": "opengraph", "microdata": "microdata-shop", "rdfa": "rdfa-lite"} {
		body, err := os.ReadFile("structured/testdata/pages/" + path + ".html")
		if err != nil {
			b.Fatal(err)
		}
		pages[name] = string(body) + long
	}
	for _, name := range []string{"none", "open-graph", "json-ld", "microdata", "rdfa"} {
		record := &kgo.Record{Key: []byte("a.example"), Value: stage.Encode(file("https://a.example/x", "text/html", 200, pages[name], nil))}
		var stages [2]stage.Transform
		for i, d := range []topics.Definition{{StructuredData: topics.NoStructuredData}, {}} {
			transform, err := New(stage.Env{Names: topics.Loop("bench"), Definition: d, Meter: stage.NoMeter{}})
			if err != nil {
				b.Fatal(err)
			}
			stages[i] = transform
		}
		b.Run(name, func(b *testing.B) {
			var total, least [2]time.Duration
			for b.Loop() {
				for i, transform := range stages {
					start := time.Now()
					transform(record)
					took := time.Since(start)
					total[i] += took
					if least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			b.ReportMetric(float64(total[1])/float64(total[0]), "over-without")
			b.ReportMetric(float64(least[1])/float64(least[0]), "least-over-without")
			b.ReportMetric(float64(least[1].Microseconds()), "least-us")
		})
	}
}
