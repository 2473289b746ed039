package codecs_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/structured"
	"github.com/weftcrawl/weft/test/parsedschema"
)

// record is what the stage parse makes of a page, resolving of links aside.
func record(page *document.Page, body []byte) codecs.Parsed {
	p := codecs.Parsed{
		ID: "page-1", URL: "https://www.example.org/dir/page.html", Domain: "example.org", Crawl: "test",
		Status: 200, FetchedAt: time.UnixMilli(1_790_000_000_123).UTC(), Depth: 1,
		ContentType: page.MediaType, Charset: page.Charset, BodyBytes: int64(len(body)),
		Unparsed: page.Unparsed, Fallback: page.Fallback,
		Language: page.Language, Detected: "en", Confidence: 0.97, Script: "Latn", Direction: cmp.Or(page.Direction, "ltr"), Title: page.Title, Description: page.Description, Canonical: page.Canonical,
		Keywords: page.Keywords, Author: page.Author, Date: page.Date, Modified: "2026-01-02", Pages: 12, CanonicalConflict: page.CanonicalConflict,
		JSONLD: page.JSONLD, JSONLDOmitted: page.JSONLDOmitted,
		Robots: codecs.ParsedRobots(page.Robots),
		Text:   page.Text, TextTruncated: page.TextTruncated, LinksOmitted: page.Skipped.Many,
	}
	for _, h := range page.Headings {
		p.Headings = append(p.Headings, codecs.ParsedHeading(h))
	}
	for _, property := range page.OpenGraph {
		p.OpenGraph = append(p.OpenGraph, codecs.ParsedProperty(property))
	}
	for _, l := range page.Links {
		p.Links = append(p.Links, codecs.ParsedLink{URL: l.URL, Text: l.Text, Caption: l.Caption, Rel: l.Rel, Kind: string(l.Kind), Element: string(l.Element), Language: l.Language})
	}
	return p
}

// duplicated makes a record the record of a duplicate.
func duplicated(p *codecs.Parsed) {
	p.ContentHash, p.SimHash, p.MinHash = strings.Repeat("0a", 16), strings.Repeat("f1", 8), strings.Repeat("3c", 16)
	p.DuplicateOf = &codecs.ParsedOriginal{ID: "page-0", URL: "https://www.example.org/", Distance: 3}
	p.Unfollowed = codecs.Duplicate
	p.Archived = &codecs.ParsedArchived{Partition: 3, Offset: 41_207}
}

// asFeed makes a record the record of a feed, which package document does not know.
func asFeed(p *codecs.Parsed) {
	p.Feed = &codecs.ParsedFeed{
		Kind: "atom", Link: "https://www.example.org/", Self: "https://www.example.org/feed", Hubs: []string{"https://hub.example/"},
		Entries: []codecs.ParsedEntry{{URL: "https://www.example.org/1", ID: "urn:1", Title: "A", Author: "B", Date: "2024", Summary: "C"}, {}}, EntriesOmitted: 1,
	}
}

// asStructure makes a record the record of a table.
func asStructure(p *codecs.Parsed) {
	p.Structure = &codecs.ParsedStructure{Format: "csv", Columns: []string{"a", ""}, Values: 3, Wrong: "uneven"}
}

// asImage makes a record that of an image.
func asImage(p *codecs.Parsed) {
	p.BodyHash = strings.Repeat("0f", 32)
	p.Image = &codecs.ParsedImage{
		Format: "jpeg", Width: 640, Height: 480, Orientation: 6, Camera: "Maker Model", Copyright: "A", PerceptualHash: strings.Repeat("a0", 8),
		Place: &codecs.ParsedPlace{Latitude: 47.5, Longitude: -8.25},
	}
}

// withDirectives adds what headers and robots.txt say.
func withDirectives(p *codecs.Parsed) {
	p.Directives = []codecs.ParsedDirective{{Source: "header", Field: "x-robots-tag", Agent: "otherbot", Value: "noai"}, {Source: "robots.txt", Field: "content-usage", Value: "train-ai=n"}}
	p.Usage = map[string]string{"train-ai": "n", "search": "y"}
}

// withMainText adds the article.
func withMainText(p *codecs.Parsed) {
	p.MainText, p.Markdown, p.MainTruncated, p.MainUnparsed = "A", "**A**", true, article.NotFound
}

// withFields adds what a rule took out.
func withFields(p *codecs.Parsed) {
	p.Fields, p.FieldsBy = []byte(`{"title":"A","price":{"amount":"12.50","currency":"EUR"},"tags":["x"]}`), "shop"
	p.FieldErrors = []codecs.ParsedFieldError{{Field: "offers[1].price", Error: "not_money", Value: "on request"}, {Error: "too_deep"}}
}

// withStructuredData adds items and what is made of them.
func withStructuredData(p *codecs.Parsed) {
	yes := true
	p.Structured = &codecs.ParsedStructuredData{
		Items: []codecs.ParsedItem{{Source: "json-ld", Types: []string{"Product"}, ID: "https://www.example.org/#p", Properties: codecs.ParsedProperties{"a": {
			{Text: "x"}, {Text: "x", Language: "en"}, {URL: "https://www.example.org/"}, {Number: "1.50"}, {Bool: &yes}, {Item: &codecs.ParsedItem{ID: "#q"}},
		}}}},
		OpenGraph: codecs.ParsedProperties{"title": {{Text: "x"}}}, Twitter: codecs.ParsedProperties{"card": {{Text: "x"}}}, DublinCore: codecs.ParsedProperties{"date": {{Text: "x"}}},
		Published: &codecs.ParsedDate{Date: "2024-01", Source: "meta", Property: "date"}, Modified: &codecs.ParsedDate{Date: "2024-01-02T03:04:05Z", Source: "http", Property: "last-modified"},
		Authors: []codecs.ParsedAuthor{{Name: "A", URL: "https://www.example.org/a", Source: "rdfa"}}, Breadcrumbs: [][]codecs.ParsedCrumb{{{Name: "A", URL: "https://www.example.org/"}}},
		Prices:   []codecs.ParsedPrice{{Amount: "1.50", Highest: "2", Currency: "EUR", Item: "A", Availability: "InStock", Source: "microdata"}},
		Problems: []codecs.ParsedProblem{{Source: "html", Problem: structured.TooDeep, Where: "x"}}, ProblemsOmitted: 1,
	}
}

// TestRecordsFollowSchema reads real documents, with generous and with tight
// bounds, and holds their records against the published schema. Together they
// must show every property, or the schema is not tried.
func TestRecordsFollowSchema(t *testing.T) {
	schema := parsedschema.Compiled()
	generous := document.DefaultOptions()
	tight := document.DefaultOptions()
	tight.MaxTextBytes, tight.MaxLinks, tight.MaxTreeBytes, tight.OmitNoIndex = 20, 1, 200, true
	tight.MaxDataBytes = 40

	files, err := filepath.Glob("../processors/parse/document/testdata/pages/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	seen := map[string]bool{}
	for _, opts := range []document.Options{generous, tight} {
		parser, err := document.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, contentType := range []string{"text/html", "text/plain; charset=utf-8", "image/png"} {
				p := record(parser.Document(document.Input{ContentType: contentType, Body: body}), body)
				p.Truncated = opts.OmitNoIndex
				if p.Text != "" {
					duplicated(&p)
					asFeed(&p)
					asStructure(&p)
					asImage(&p)
					withDirectives(&p)
					withMainText(&p)
					withFields(&p)
					withStructuredData(&p)
				}
				line := p.AppendJSON(nil)
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
				if err != nil {
					t.Fatalf("%s as %s: %v", file, contentType, err)
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("%s as %s: %v\n%.2000s", file, contentType, err, line)
				}
				for name := range value.(map[string]any) {
					seen[name] = true
				}
			}
		}
	}
	for _, name := range propertiesOf(t, "properties") {
		if !seen[name] {
			t.Errorf("no document's record has %s", name)
		}
	}
}

// TestExamplesFollowSchema holds the records that docs/consume.md shows against the schema: one of
// each kind.
func TestExamplesFollowSchema(t *testing.T) {
	page, err := os.ReadFile("../docs/consume.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## A record of each kind\n")
	section, _, _ = strings.Cut(section, "\n## ")
	schema := parsedschema.Compiled()
	kinds := map[string]bool{}
	for _, block := range strings.Split(section, "```json\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, `{"format"`) {
			continue // the structures, a line each
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(block))
		if err != nil {
			t.Fatalf("%s: %v", block, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", block, err)
		}
		var record codecs.Parsed
		decoder := json.NewDecoder(strings.NewReader(block))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&record); err != nil {
			t.Errorf("%s: %v", block, err)
		}
		kinds[record.ContentType] = true
	}
	for _, kind := range []string{"text/html", "application/xml", "application/atom+xml", "application/pdf", "application/vnd.oasis.opendocument.text", "image/jpeg", "text/csv", "audio/ogg"} {
		if !kinds[kind] {
			t.Errorf("there is no example of %s", kind)
		}
	}
}

// TestSchemaRefuses checks that the schema can refuse a record.
func TestSchemaRefuses(t *testing.T) {
	schema := parsedschema.Compiled()
	good := record(&document.Page{}, nil)
	for name, spoil := range map[string]func(map[string]any){
		"missing url":     func(m map[string]any) { delete(m, "url") },
		"null links":      func(m map[string]any) { m["links"] = nil },
		"relative url":    func(m map[string]any) { m["url"] = "/page" },
		"time in ms":      func(m map[string]any) { m["fetched_at"] = json.Number("1790000000123") },
		"time for people": func(m map[string]any) { m["fetched_at"] = "yesterday" },
		"unknown reason":  func(m map[string]any) { m["unparsed"] = "because" },
		"false truncated": func(m map[string]any) { m["truncated"] = false },
		"unknown problem": func(m map[string]any) {
			m["structured_data"] = map[string]any{"problems": []any{map[string]any{"source": "json-ld", "problem": "because"}}}
		},
		"value without a kind": func(m map[string]any) {
			m["structured_data"] = map[string]any{"items": []any{map[string]any{"properties": map[string]any{"a": []any{nil}}}}}
		},
		"heading 7": func(m map[string]any) {
			m["headings"] = []any{map[string]any{"level": json.Number("7"), "text": "x"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(good.AppendJSON(nil)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); err != nil {
				t.Fatal(err)
			}
			spoil(value.(map[string]any))
			if schema.Validate(value) == nil {
				t.Error("accepted")
			}
		})
	}
}

// TestSchemaNamesEveryField holds the schema and the Go types to the same
// properties, each with a description, and the same ones required.
func TestSchemaNamesEveryField(t *testing.T) {
	for _, object := range []struct {
		path   []string
		record any
	}{
		{nil, codecs.Parsed{}},
		{[]string{"properties", "robots"}, codecs.ParsedRobots{}},
		{[]string{"properties", "headings", "items"}, codecs.ParsedHeading{}},
		{[]string{"properties", "open_graph", "items"}, codecs.ParsedProperty{}},
		{[]string{"properties", "links", "items"}, codecs.ParsedLink{}},
		{[]string{"properties", "structure"}, codecs.ParsedStructure{}},
		{[]string{"properties", "image"}, codecs.ParsedImage{}},
		{[]string{"properties", "image", "properties", "place"}, codecs.ParsedPlace{}},
		{[]string{"properties", "feed"}, codecs.ParsedFeed{}},
		{[]string{"properties", "feed", "properties", "entries", "items"}, codecs.ParsedEntry{}},
		{[]string{"properties", "field_errors", "items"}, codecs.ParsedFieldError{}},
		{[]string{"properties", "directives", "items"}, codecs.ParsedDirective{}},
		{[]string{"properties", "structured_data"}, codecs.ParsedStructuredData{}},
		{[]string{"properties", "structured_data", "properties", "authors", "items"}, codecs.ParsedAuthor{}},
		{[]string{"properties", "structured_data", "properties", "breadcrumbs", "items", "items"}, codecs.ParsedCrumb{}},
		{[]string{"properties", "structured_data", "properties", "prices", "items"}, codecs.ParsedPrice{}},
		{[]string{"properties", "structured_data", "properties", "problems", "items"}, codecs.ParsedProblem{}},
		{[]string{"$defs", "item"}, codecs.ParsedItem{}},
		{[]string{"$defs", "date"}, codecs.ParsedDate{}},
	} {
		var fields, required []string
		for field := range reflect.TypeOf(object.record).Fields() {
			name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, name)
			if option == "" {
				required = append(required, name)
			}
		}
		node := schemaAt(t, object.path...)
		properties := node["properties"].(map[string]any)
		for name, property := range properties {
			if property.(map[string]any)["description"] == nil {
				t.Errorf("%v: %s has no description", object.path, name)
			}
		}
		var inSchema []string
		names, _ := node["required"].([]any) // there may be none
		for _, name := range names {
			inSchema = append(inSchema, name.(string))
		}
		named := propertiesOf(t, append(slices.Clone(object.path), "properties")...)
		for _, pair := range [][2][]string{{fields, named}, {required, inSchema}} {
			slices.Sort(pair[0])
			slices.Sort(pair[1])
			if !slices.Equal(pair[0], pair[1]) {
				t.Errorf("%v: Go has %v, the schema %v", object.path, pair[0], pair[1])
			}
		}
	}
}

func propertiesOf(t *testing.T, path ...string) []string {
	t.Helper()
	var names []string
	for name := range schemaAt(t, path...) {
		names = append(names, name)
	}
	return names
}

func schemaAt(t *testing.T, path ...string) map[string]any {
	t.Helper()
	var node map[string]any
	if err := json.Unmarshal([]byte(codecs.ParsedSchema()), &node); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		node = node[step].(map[string]any)
	}
	return node
}
