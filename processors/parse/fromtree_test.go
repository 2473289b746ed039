package parse

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/topics"
)

// mainTexts counts outcomes.
type mainTexts struct {
	stage.NoMeter
	outcomes *[]string
}

func (m mainTexts) MainText(outcome string) { *m.outcomes = append(*m.outcomes, outcome) }

// definedPage is the page that a stage with a definition makes of a body.
func definedPage(t *testing.T, f *weftpb.Fetched, d topics.Definition, meter stage.Meter) codecs.Parsed {
	t.Helper()
	d.Crawl = "test"
	transform, err := New(stage.Env{Names: topics.Loop("test"), Definition: d, Meter: meter})
	if err != nil {
		t.Fatal(err)
	}
	out, reason := transform(&kgo.Record{Key: []byte("a.example"), Value: stage.Encode(f)})
	if reason != "" || len(out) == 0 {
		t.Fatalf("%d records, %q", len(out), reason)
	}
	var page codecs.Parsed
	if err := json.Unmarshal(out[0].Value, &page); err != nil {
		t.Fatal(err)
	}
	return page
}

const story = `<title>T</title><base href="/b/"><nav><a href=/n>Navigation</a></nav><article>` +
	`<p>There are some words here, and there are some more, which say nothing, <a href=c>but link</a>.` +
	`<p>There are other words here, and there are more of them, which say nothing, either.</article>`

// The records of a crawl have the main text in the forms that its definition asks for.
func TestMainText(t *testing.T) {
	for name, c := range map[string]struct {
		media, body    string
		text, markdown bool
		unparsed       string
		counted        bool
	}{
		"not asked for":   {media: "text/html", body: story},
		"text":            {media: "text/html", body: story, text: true, counted: true},
		"Markdown":        {media: "text/html", body: story, markdown: true, counted: true},
		"both":            {media: "application/xhtml+xml", body: story, text: true, markdown: true, counted: true},
		"nothing":         {media: "text/html", body: "<title>T</title>", text: true, unparsed: article.NotFound, counted: true},
		"too deep":        {media: "text/html", body: strings.Repeat("<div>", 600) + story, text: true, unparsed: document.TooDeep, counted: true},
		"too large":       {media: "text/html", body: story + strings.Repeat(" ", 1<<20), text: true, unparsed: document.TooLarge, counted: true},
		"another format":  {media: "text/markdown", body: "# T\n\nx", text: true, markdown: true},
		"unknown formats": {media: "image/png", body: "x", text: true},
	} {
		var outcomes []string
		page := definedPage(t, file("https://a.example/x", c.media, 200, c.body, nil), topics.Definition{MainText: c.text, Markdown: c.markdown}, mainTexts{outcomes: &outcomes})
		found := c.counted && c.unparsed == ""
		if strings.HasPrefix(page.MainText, "There are some words") != (found && c.text) || strings.Contains(page.MainText, "Navigation") {
			t.Errorf("%s: the main text is %q", name, page.MainText)
		}
		if strings.Contains(page.Markdown, "nothing, [but link](https://a.example/b/c).") != (found && c.markdown) || strings.Contains(page.Markdown, "Navigation") {
			t.Errorf("%s: the Markdown is %q", name, page.Markdown)
		}
		if page.MainUnparsed != c.unparsed || c.counted != (len(outcomes) == 1 && outcomes[0] == c.unparsed) {
			t.Errorf("%s: unparsed because %q, counted %q", name, page.MainUnparsed, outcomes)
		}
	}
}

// A page that loses its text loses its main text, too.
func TestNoMainTextWithoutText(t *testing.T) {
	d := topics.Definition{MainText: true, Markdown: true, Respect: []string{"ai-train=n"}, Duplicates: topics.DropDuplicateText}
	f := file("https://a.example/x", "text/html", 200, story, nil)
	f.Request.Usage = "content-signal: ai-train=no\n"
	if page := definedPage(t, f, d, stage.NoMeter{}); page.MainText+page.Markdown != "" {
		t.Errorf("a page that must not be used has the main text %q", page.MainText)
	}
	made := &result{env: &stage.Env{Definition: d}, record: &codecs.Parsed{Text: "x", MainText: "x", Markdown: "x"}, named: []*weftpb.Discovered{{}}}
	made.duplicates(duplicates.Verdict{ID: "1", URL: "https://a.example/"})
	if made.record.MainText+made.record.Markdown != "" {
		t.Error("a duplicate without text has a main text")
	}
}

// A record that would be too large has no main text.
func TestNoRoomForMainText(t *testing.T) {
	made := &result{record: &codecs.Parsed{Text: strings.Repeat("\x01", maxParsedBytes/6), MainText: "x", Markdown: "x"}}
	value := made.value()
	if len(value) > 16<<20 || made.record.MainUnparsed != article.NoRoom || !strings.HasSuffix(string(value), `"main_unparsed":"no_room","links":[]}`) {
		t.Errorf("%d bytes, %q", len(value), made.record.MainUnparsed)
	}
}

// BenchmarkMainText makes the records of a page of 30 KB without and with its main text.
func BenchmarkMainText(b *testing.B) {
	body := "<title>T</title><nav>" + strings.Repeat("<li><a href=/n>Navigation</a>", 100) + "</nav><article>" +
		strings.Repeat("<p>There are some words here, and there are <b>some more</b>, which say nothing, <a href=c>but link</a>.", 260) + "</article>"
	record := &kgo.Record{Key: []byte("a.example"), Value: stage.Encode(file("https://a.example/x", "text/html", 200, body, nil))}
	for _, c := range []struct {
		name string
		d    topics.Definition
	}{{"without", topics.Definition{}}, {"text", topics.Definition{MainText: true}}, {"both", topics.Definition{MainText: true, Markdown: true}}} {
		b.Run(c.name, func(b *testing.B) {
			transform, err := New(stage.Env{Names: topics.Loop("bench"), Definition: c.d, Meter: stage.NoMeter{}})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				transform(record)
			}
		})
	}
}

// failures counts fields that fail.
type failures struct {
	stage.NoMeter
	all *[]string
}

func (m failures) Extracted(rule string) { *m.all = append(*m.all, rule) }

func (m failures) FieldFailed(rule, field, failure string) {
	*m.all = append(*m.all, rule+" "+field+" "+failure)
}

// A record has the fields that the rule of its page takes out, and what fails is counted.
func TestFieldsOfARule(t *testing.T) {
	rules := []topics.RuleFile{{Name: "a.yaml", Text: "match: {hosts: a.example}\nfields:\n  link: {select: article a, attr: href, type: url}\n" +
		"  prices: {select: p, type: money, list: true}\n  needed: {select: h6, required: true}\n"}}
	noMoney := "There are some words here, and there are some more, which say nothing, but link."
	for name, c := range map[string]struct {
		url, body, fields string
		failures          []string
		errors            []codecs.ParsedFieldError
	}{
		"a page": {
			"https://a.example/x", strings.Replace(story, "There are other words", "EUR 5: there are words", 1),
			`{"link":"https://a.example/b/c","prices":[{"amount":"5","currency":"EUR"}]}`, []string{"a", "a prices not_money", "a needed missing"},
			[]codecs.ParsedFieldError{{Field: "prices[0]", Error: "not_money", Value: noMoney}, {Field: "needed", Error: "missing"}},
		},
		"another site": {url: "https://b.example/x", body: story},
		"too deep": {
			"https://a.example/x", strings.Repeat("<div>", 600) + story, `{}`, []string{"a", "a  too_deep"}, []codecs.ParsedFieldError{{Error: "too_deep"}},
		},
	} {
		var counted []string
		d := topics.Definition{Rules: rules, MainText: true}
		page := definedPage(t, file(c.url, "text/html", 200, c.body, nil), d, failures{all: &counted})
		if string(page.Fields) != c.fields || (page.FieldsBy == "a") != (c.fields != "") {
			t.Errorf("%s: the fields by %q are %s", name, page.FieldsBy, page.Fields)
		}
		if !cmp.Equal(page.FieldErrors, c.errors) || !cmp.Equal(counted, c.failures) {
			t.Errorf("%s: %+v, counted %q", name, page.FieldErrors, counted)
		}
		if (page.MainText == "") != (name == "too deep") {
			t.Errorf("%s: the main text is %q", name, page.MainText)
		}
	}
	if _, err := New(stage.Env{Names: topics.Loop("test"), Definition: topics.Definition{Crawl: "test", Rules: []topics.RuleFile{{Name: "a.yaml"}}}}); err == nil {
		t.Error("a crawl with a bad rule runs")
	}
}
