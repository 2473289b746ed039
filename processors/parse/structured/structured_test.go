package structured

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestPages compares what is found in the pages with golden files.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/pages/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		p := codecs.Parsed{Structured: data(t, string(body))}
		var record struct {
			Data json.RawMessage `json:"structured_data"`
		}
		if err := json.Unmarshal(p.AppendJSON(nil), &record); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, record.Data, "", " "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		golden := filepath.Join("testdata/golden", strings.TrimSuffix(filepath.Base(page), ".html")+".json")
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil { //nolint:gosec // a golden file is for everybody
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", page, diff)
		}
	}
}

// TestOneShape: the pages that reference.py makes of one model say the same in each language.
func TestOneShape(t *testing.T) {
	same := map[string][]codecs.ParsedItem{}
	models := 0
	for _, page := range references(t) {
		model, _, ok := strings.Cut(strings.TrimPrefix(page.Name, "made-"), "-")
		if !ok || !strings.HasPrefix(page.Name, "made-") {
			continue
		}
		items := data(t, page.HTML).Items
		for i := range items {
			items[i].Source = ""
		}
		if want, ok := same[model]; !ok {
			same[model] = items
			models++
		} else if diff := cmp.Diff(want, items, cmp.Transformer("folded", func(v codecs.ParsedValue) codecs.ParsedValue {
			v.Text = strings.Join(strings.Fields(v.Text), " ")
			return v
		})); diff != "" {
			t.Errorf("%s: %s", page.Name, diff)
		}
	}
	if models < 20 {
		t.Errorf("only %d models", models)
	}
}

// TestFlat tries dates, authors, breadcrumbs and prices, and their sources.
func TestFlat(t *testing.T) {
	ld := func(s string) string {
		return `<script type="application/ld+json">{"@context":"https://schema.org",` + s + `}</script>`
	}
	article := ld(`"@type":"Article","datePublished":"2024-01-02","dateModified":"2024-02-03T04:05:06Z","author":"Ann"`)
	date := func(d *codecs.ParsedDate) string {
		if d == nil {
			return ""
		}
		return d.Date + " " + d.Source + " " + d.Property
	}
	authors := func(d *codecs.ParsedStructuredData) (all string) {
		for _, a := range d.Authors {
			all += a.Name + "|" + a.URL + "|" + a.Source + " "
		}
		return strings.TrimSpace(all)
	}
	prices := func(d *codecs.ParsedStructuredData) (all string) {
		for _, p := range d.Prices {
			all += p.Amount + "-" + p.Highest + p.Currency + "|" + p.Item + "|" + p.Availability + " "
		}
		return strings.TrimSpace(all)
	}
	published := func(d *codecs.ParsedStructuredData) string { return date(d.Published) }
	modified := func(d *codecs.ParsedStructuredData) string { return date(d.Modified) }
	crumbs := func(d *codecs.ParsedStructuredData) string {
		b, _ := json.Marshal(d.Breadcrumbs)
		return string(b)
	}
	for _, c := range []struct {
		name, body string
		what       func(*codecs.ParsedStructuredData) string
		want       string
	}{
		{"an article", article, published, "2024-01-02 json-ld datePublished"},
		{"its change", article, modified, "2024-02-03T04:05:06Z json-ld dateModified"},
		{"Open Graph comes first", `<meta property=article:published_time content="2023-05-06T07:08:09+02:00">` + article, published, "2023-05-06T05:08:09Z open-graph article:published_time"},
		{"not if it is no date", `<meta property=article:published_time content="yesterday">` + article, published, "2024-01-02 json-ld datePublished"},
		{"og:updated_time", `<meta property=og:updated_time content="1700000000">`, modified, "2023-11-14T22:13:20Z open-graph og:updated_time"},
		{"Dublin Core", `<meta name=DC.date content="18 July 2001">`, published, "2001-07-18 dublin-core dc.date"},
		{"Dublin Core: issued before date", `<meta name=DC.date content=2002><meta name=DCTERMS.issued content=2001-07>`, published, "2001-07 dublin-core dcterms.issued"},
		{"a time element", `<time pubdate datetime=2020-02-03>x</time><meta name=date content=2001>`, published, "2020-02-03 time pubdate"},
		{"a time element with text", `<time pubdate>2020-02-03</time>`, published, "2020-02-03 time pubdate"},
		{"a meta element", `<meta name=pubdate content=2001>`, published, "2001 meta pubdate"},
		{"microdata", `<p itemscope itemtype=https://schema.org/BlogPosting><time itemprop=datePublished datetime=2020-02-03>x</time>`, published, "2020-02-03 microdata datePublished"},
		{"a list of articles says nothing about the page", strings.Repeat(article, 2), published, ""},
		{"a comment does not", ld(`"@type":"Comment","datePublished":"2024-01-02"`), published, ""},
		{"a work in a page", ld(`"@type":"WebPage","dateModified":"2020-01-01","mainEntity":{"@type":"Recipe","dateModified":"2024-02-03"}`), modified, "2024-02-03 json-ld dateModified"},
		{"a page alone", ld(`"@type":"WebPage","dateModified":"2020-01-01"`), modified, "2020-01-01 json-ld dateModified"},
		{"an author as text", article, authors, "Ann||json-ld"},
		{"authors once", article + `<meta name=author content=ann><meta property=article:author content=https://a.example/ann><meta name=dc.creator content=Bob>`, authors, "Ann||json-ld |https://a.example/ann|open-graph Bob||dublin-core"},
		{"authors by reference", ld(`"@graph":[{"@type":"Article","author":{"@id":"#a"}},{"@id":"#a","@type":"Person","givenName":"Ann","familyName":"Loom","url":"/ann"}]`), authors, "Ann Loom|https://site.example/ann|json-ld"},
		{"a price", ld(`"@type":"Product","name":"Loom","offers":{"@type":"Offer","price":12.50,"priceCurrency":"EUR","availability":"https://schema.org/InStock"}`), prices, "12.50-EUR|Loom|InStock"},
		{"an availability by its name", ld(`"@type":"Offer","price":5,"priceCurrency":"EUR","availability":"SoldOut"`), prices, "5-EUR||SoldOut"},
		{"an availability of others", ld(`"@type":"Offer","price":5,"priceCurrency":"EUR","availability":"/stock"`), prices, "5-EUR||https://site.example/stock"},
		{"a range", ld(`"@type":"Product","name":"Loom","offers":{"@type":"AggregateOffer","lowPrice":"1","highPrice":"2","priceCurrency":"usd"}`), prices, "1-2USD|Loom|"},
		{"a price in a specification", ld(`"@type":"Offer","name":"x","priceSpecification":{"price":"5","priceCurrency":"CHF"}`), prices, "5-CHF|x|"},
		{"a price for people", `<p itemscope itemtype=http://schema.org/Offer><b itemprop=price>1.299,00 €</b>`, prices, "1299.00-EUR||"},
		{"a price of meta elements", `<meta property=product:price:amount content="12,50"><meta property=product:price:currency content=EUR>`, prices, "12.50-EUR||"},
		{"no price", ld(`"@type":"Offer","price":"on request"`), prices, ""},
		{"breadcrumbs by position", ld(`"@type":"BreadcrumbList","itemListElement":[{"position":2,"name":"B"},{"position":"1","item":{"@id":"/a","name":"A"}}]`), crumbs, `[[{"name":"A","url":"https://site.example/a"},{"name":"B"}]]`},
	} {
		if got := c.what(data(t, c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// The header field counts if nothing else tells when the page was changed.
func TestLastModified(t *testing.T) {
	reader, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{"Wed, 21 Oct 2015 07:28:00 GMT": "2015-10-21T07:28:00Z http last-modified", "soon": "", "": ""} {
		in := Input{Page: emptyPage(), Resolve: resolver(t, ""), LastModified: header}
		found, problems := reader.Read(in)
		got := ""
		if found != nil && found.Modified != nil {
			got = found.Modified.Date + " " + found.Modified.Source + " " + found.Modified.Property
		}
		if got != want || (header == "soon") != (len(problems) == 1) {
			t.Errorf("%q: %q, %v", header, got, problems)
		}
	}
}

func TestOptions(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("the zero value is valid")
	}
}
