package structured

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/test/parsedschema"
)

func emptyPage() *document.Page { return &document.Page{} }

func script(s string) string { return `<script type="application/ld+json">` + s + `</script>` }

// hostile are pages with invalid data or too much of it, and what is named.
var hostile = []struct {
	name, body string
	want       []Problem
	items      int // not in another one
}{
	{"no data", `<p>text`, nil, 0},
	{"broken JSON", script(`{"@context":"https://schema.org","name":`), []Problem{{JSONLD, BadJSON}}, 0},
	{"no JSON", script(`var x = 1`), []Problem{{JSONLD, BadJSON}}, 0},
	{"a text", script(`"x"`), []Problem{{JSONLD, WrongType}}, 0},
	{"null", script(`null`), []Problem{{JSONLD, WrongType}}, 0},
	{"a list of lists", script(`[[["x"]]]`), []Problem{{JSONLD, WrongType}}, 0},
	{"broken behind a value", script(`{"@context":"https://schema.org","name":"x"} }`), []Problem{{JSONLD, BadJSON}}, 1},
	{"comments", script(`/* a */ {"@context":"https://schema.org", // b` + "\n" + `"name":"x"}`), []Problem{{JSONLD, Repaired}}, 1},
	{"a comma too much", script(`{"@context":"https://schema.org","name":["x",],};`), []Problem{{JSONLD, Repaired}}, 1},
	{"a line break in a text", script("{\"@context\":\"https://schema.org\",\"name\":\"x\ny\\'\"}"), []Problem{{JSONLD, Repaired}}, 1},
	{"two values", script(`{"@context":"https://schema.org","name":"x"}{"@context":"https://schema.org","name":"y"}`), nil, 2},
	{"no context", script(`{"@type":"Thing","name":"x"}`), []Problem{{JSONLD, NoContext}}, 1},
	{"a context elsewhere", script(`{"@context":"https://www.w3.org/ns/activitystreams","type":"Note"}`), []Problem{{JSONLD, UnknownContext}}, 1},
	{"a context that is a number", script(`{"@context":1,"name":"x"}`), []Problem{{JSONLD, WrongType}, {JSONLD, NoContext}}, 1},
	{"definitions that are numbers", script(`{"@context":{"a":1,"@vocab":2},"name":"x"}`), []Problem{{JSONLD, WrongType}, {JSONLD, WrongType}}, 1},
	{"types that are numbers", script(`{"@context":"https://schema.org","@type":[1,"Thing"],"@id":2}`), []Problem{{JSONLD, WrongType}, {JSONLD, WrongType}}, 1},
	{"a value that is an object", script(`{"@context":"https://schema.org","name":{"@value":{}}}`), []Problem{{JSONLD, WrongType}}, 1},
	{"reverse", script(`{"@context":"https://schema.org","name":"x","@reverse":{"about":{}}}`), []Problem{{JSONLD, Unsupported}}, 1},
	{"items that refer to each other", script(`{"@context":"https://schema.org","@graph":[{"@id":"#a","knows":{"@id":"#b"}},{"@id":"#b","knows":{"@id":"#a"}}]}`), nil, 2},
	{"an item that refers to itself", script(`{"@context":"https://schema.org","@id":"#a","author":{"@id":"#a"},"datePublished":"2024-01-01"}`), nil, 1},
	{"nested too deep", script(`{"@context":"https://schema.org","a":` + strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40) + `}`), []Problem{{JSONLD, TooDeep}}, 1},
	{"lists nested too deep", script(strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)), []Problem{{JSONLD, TooDeep}}, 0},
	{"JSON nested too deep", script(strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000)), []Problem{{JSONLD, BadJSON}}, 0},
	{"contexts nested too deep", script(`{"@context":` + strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100) + `,"name":"x"}`), []Problem{{JSONLD, TooDeep}, {JSONLD, NoContext}}, 1},
	{"a script beyond the limit", script(`{"@context":"https://schema.org","name":"` + strings.Repeat("x", 70_000) + `"}`), []Problem{{JSONLD, TooLarge}}, 0},
	{"too many items", script(`{"@context":"https://schema.org","a":[` + strings.Repeat(`{"b":1},`, 2000) + `{}]}`), []Problem{{JSONLD, TooMany}}, 1},
	{"too many values", script(`{"@context":"https://schema.org","a":[` + strings.Repeat(`1,`, 20_000) + `1]}`), []Problem{{JSONLD, TooMany}}, 1},
	{"a long text", script(`{"@context":"https://schema.org","a":"` + strings.Repeat("x", 40_000) + `"}`), []Problem{{JSONLD, TooLarge}}, 1},
	{"a long number", script(`{"@context":"https://schema.org","a":` + strings.Repeat("1", 40_000) + `}`), []Problem{{JSONLD, TooLarge}}, 1},
	{"prefixes that grow", script(`{"@context":{"a":"http://x/` + strings.Repeat("x", 30_000) + `"},` + strings.Repeat(`"a:x":1,`, 4000) + `"b":1}`), []Problem{{JSONLD, TooLarge}}, 1},

	{"an item that contains itself", `<div itemscope id=a itemref=a><b itemprop=name>x</b></div>`, []Problem{{Microdata, Cycle}}, 1},
	{"items that contain each other", `<div itemscope itemref=b><p id=b itemprop=x itemscope itemref=c></p></div><p id=c itemprop=y itemscope itemref=b>`, []Problem{{Microdata, Cycle}, {Microdata, Repeated}}, 1},
	{"a reference to nothing", `<div itemscope itemref="a b"></div><p id=a itemprop=name>x`, []Problem{{Microdata, MissingReference}}, 1},
	{"a property twice", `<div itemscope itemref=a><b id=a itemprop=name>x</b></div>`, []Problem{{Microdata, Repeated}}, 1},
	{"a type that is not a URL", `<div itemscope itemtype=Person><b itemprop=name>x</b></div>`, []Problem{{Microdata, WrongType}}, 1},
	{"a property without an item", `<b itemprop=name>x</b>`, nil, 0},
	{"items nested too deep", `<div itemscope>` + strings.Repeat(`<div itemscope itemprop=a>`, 100), []Problem{{Microdata, TooDeep}}, 1},
	{"too many items of microdata", strings.Repeat(`<p itemscope><b itemprop=a>x</b></p>`, 2000), []Problem{{Microdata, TooMany}}, 1000},
	{"items that multiply", strings.Repeat(`<p itemscope itemref=a></p>`, 500) + `<p id=a>` + strings.Repeat(`<b itemprop=n>text</b>`, 200), []Problem{{Microdata, TooMany}}, 0},
	{"a text that many properties have", strings.Repeat(`<div itemscope><div itemprop=a>`, 60) + strings.Repeat("text ", 20_000), []Problem{{Microdata, TooLarge}}, 0},
	{"nodes that many properties have", `<div itemscope>` + strings.Repeat(`<div itemprop=a>`, 400) + strings.Repeat(`<b></b>`, 20_000), []Problem{{Microdata, TooCostly}}, 0},
	{"a blank text that many items have", strings.Repeat(`<p itemscope itemref=a></p>`, 900) + `<pre id=a itemprop=x>` + strings.Repeat(" ", 500_000), []Problem{{Microdata, TooCostly}}, 0},
	{"an attribute that many items have", strings.Repeat(`<p itemscope itemref=a></p>`, 900) + `<p id=a itemprop=x content="` + strings.Repeat(" ", 500_000) + `">`, []Problem{{Microdata, TooCostly}}, 0},
	{"a reference that many items have", strings.Repeat(`<p itemscope itemref=a></p>`, 900) + `<a id=a itemprop=x href="` + strings.Repeat(" ", 500_000) + `">`, []Problem{{Microdata, TooCostly}}, 0},
	{"names that many items have", strings.Repeat(`<p itemscope itemref=a></p>`, 900) + `<p id=a itemprop="` + strings.Repeat(" ", 500_000) + `">`, []Problem{{Microdata, TooCostly}}, 0},
	{"a blank text in many properties", `<div vocab=http://schema.org/>` + strings.Repeat(`<div property=x>`, 400) + strings.Repeat(" ", 500_000), []Problem{{RDFa, TooCostly}}, 0},
	{"items under many names", `<div itemscope>` + strings.Repeat(`<div itemscope itemprop="a b c">`, 30) + `<b itemprop=d>x</b>`, []Problem{{Microdata, TooMany}}, 0},
	{"an item under two names", `<div itemscope><div itemscope itemprop="a b"><b itemprop=d>x</b></div></div>`, nil, 1},
	{"a thing under two names", `<div vocab=http://schema.org/ typeof=Thing><div property="a b" typeof=Thing><b property=d>x</b></div></div>`, []Problem{{RDFa, Repeated}}, 1},
	{"a page without a tree", strings.Repeat(`<div>`, 600) + `<p itemscope>`, []Problem{{HTML, document.TooDeep}}, 0},
	{"a template", `<template><p itemscope><b itemprop=a>x</b></template>`, nil, 0},

	{"a resource in itself", `<div vocab=http://schema.org/ resource=#a typeof=Thing><p property=x resource=#a typeof=Thing><b property=name>x</b></p></div>`, nil, 1},
	{"resources in each other", `<div vocab=http://schema.org/ resource=#a typeof=Thing><p property=x resource=#b typeof=Thing><b property=y resource=#a typeof=Thing>x</b></p></div>`, nil, 1},
	{"things nested too deep", `<div vocab=http://schema.org/ typeof=Thing>` + strings.Repeat(`<div property=a typeof=Thing>`, 100), []Problem{{RDFa, TooDeep}}, 4},
	{"too many things", `<div vocab=http://schema.org/>` + strings.Repeat(`<p typeof=Thing></p>`, 2000), []Problem{{RDFa, TooMany}}, 1000},
	{"many prefixes", strings.Repeat(`<p prefix="a: http://x/ b: http://y/ c: http://z/"><b typeof=a:x property=b:y></b></p>`, 100), nil, 1},
	{"prefixes of prefixes", strings.Repeat(`<p prefix="`+strings.Repeat("a: http://x/ ", 100)+`">`, 100) + `<b typeof=a:x>`, nil, 1},
	{"unknown names", `<p typeof=Person><b property=name>x</b></p>`, nil, 0},

	{"a width before a picture", `<meta property=og:image:width content=1>`, []Problem{{OpenGraph, NoParent}}, 0},
	{"a date that is none", `<meta property=article:published_time content=soon>`, []Problem{{OpenGraph, BadDate}}, 0},
	{"a price that is none", script(`{"@context":"https://schema.org","price":"soon"}`), []Problem{{JSONLD, BadPrice}}, 1},
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		found, problems := readPage(t, c.body, DefaultOptions())
		if found == nil {
			found = &codecs.ParsedStructuredData{}
		}
		for _, want := range c.want {
			if !slices.Contains(problems, want) {
				t.Errorf("%s: %v is not named, but %v", c.name, want, problems[:min(len(problems), 5)])
			}
		}
		for _, got := range problems {
			if !slices.Contains(c.want, got) {
				t.Errorf("%s: %v is named, with %v", c.name, got, found.Problems)
				break
			}
		}
		if c.items != 0 && len(found.Items) != c.items || c.want == nil && len(found.Items) != c.items {
			t.Errorf("%s: %d items, want %d", c.name, len(found.Items), c.items)
		}
		bounded(t, c.name, found, DefaultOptions())
	}
}

// bounded holds data against the bounds, and against the schema of records.
func bounded(t *testing.T, name string, d *codecs.ParsedStructuredData, opts Options) {
	t.Helper()
	items, values, depth := 0, 0, 0
	var count func(i *codecs.ParsedItem, at int)
	count = func(i *codecs.ParsedItem, at int) {
		items++
		depth = max(depth, at)
		for _, list := range i.Properties {
			for _, v := range list {
				values++
				if v.Item != nil && (len(v.Item.Properties) > 0 || len(v.Item.Types) > 0) {
					count(v.Item, at+1)
				}
			}
		}
	}
	for i := range d.Items {
		count(&d.Items[i], 1)
	}
	p := codecs.Parsed{ID: "1", URL: pageURL, Domain: "site.example", Status: 200, Structured: d}
	line := p.AppendJSON(nil)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatalf("%s: the record is not JSON: %v: %.300s", name, err, line)
	}
	if err := parsedschema.Compiled().Validate(value); err != nil && !reflect.DeepEqual(*d, codecs.ParsedStructuredData{}) {
		t.Errorf("%s: %v: %.1000s", name, err, line)
	}
	if items > opts.MaxItems || values > opts.MaxValues || depth > opts.MaxDepth+1 || len(d.Problems) > opts.MaxProblems || len(line) > 8*opts.MaxBytes+64*opts.MaxValues+100_000 {
		t.Errorf("%s: %d items, %d values, depth %d, %d problems, %d bytes", name, items, values, depth, len(d.Problems), len(line))
	}
}

// FuzzRead reads pages with any markup, with generous and with tight bounds, twice: the result is within
// the bounds, and always the same.
func FuzzRead(f *testing.F) {
	pages, err := filepath.Glob("testdata/pages/*.html")
	if err != nil {
		f.Fatal(err)
	}
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	for _, c := range hostile {
		if len(c.body) < 4096 {
			f.Add(c.body)
		}
	}
	tight := DefaultOptions()
	tight.MaxDepth, tight.MaxItems, tight.MaxValues, tight.MaxBytes, tight.MaxValueBytes, tight.MaxProblems, tight.MaxSteps, tight.MaxEntries = 3, 4, 8, 200, 40, 2, 300, 2
	f.Fuzz(func(t *testing.T, body string) {
		for _, opts := range []Options{DefaultOptions(), tight} {
			found, problems := readPage(t, body, opts)
			again, _ := readPage(t, body, opts)
			if found == nil {
				if again != nil || len(problems) > 0 {
					t.Error("nothing is found, but something is wrong, or something is found")
				}
				continue
			}
			bounded(t, "fuzz", found, opts)
			one, other := codecs.Parsed{Structured: found}, codecs.Parsed{Structured: again}
			if a, b := string(one.AppendJSON(nil)), string(other.AppendJSON(nil)); a != b {
				t.Errorf("two results:\n%s\n%s", a, b)
			}
			if len(problems) != len(found.Problems)+found.ProblemsOmitted {
				t.Errorf("%d problems are counted, %d named and %d omitted", len(problems), len(found.Problems), found.ProblemsOmitted)
			}
		}
	})
}

func ExampleReader_Read() {
	reader, err := New(DefaultOptions())
	if err != nil {
		panic(err)
	}
	found, _ := reader.Read(Input{
		Page:    &document.Page{JSONLD: []string{`{"@context": "https://schema.org", "@type": "Recipe", "name": "Party Coffee Cake", "author": "Mary Stone"}`}},
		Resolve: func(ref string) (string, bool) { return ref, true },
	})
	fmt.Println(found.Items[0].Types, found.Items[0].Properties["name"][0].Text, found.Authors[0].Name)
	// Output: [Recipe] Party Coffee Cake Mary Stone
}
