package structured

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs"
)

// reference is what other programs find in a page (testdata/reference.py).
type reference struct {
	Name      string           `json:"name"`
	HTML      string           `json:"html"`
	Microdata []map[string]any `json:"microdata"`
	RDFa      []map[string]any `json:"rdfa"`
	JSONLD    []map[string]any `json:"json_ld"`
}

func references(t *testing.T) (all []reference) {
	t.Helper()
	lines, err := os.ReadFile("testdata/reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines) {
		var one reference
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if one.HTML == "" {
			body, err := os.ReadFile(filepath.Join("testdata", one.Name))
			if err != nil {
				t.Fatal(err)
			}
			one.HTML = string(body)
		}
		all = append(all, one)
	}
	return all
}

// TestReference compares items with those that other programs find, as statements: "subject property
// value", where a subject or a value without an id is all that is said about it. White space, the order
// of items, languages and types of texts do not count.
func TestReference(t *testing.T) {
	pages := map[string]int{}
	for _, page := range references(t) {
		found := data(t, page.HTML)
		bounded(t, page.Name, found, DefaultOptions())
		c := canon{t: t, resolve: resolver(t, "")}
		for _, language := range []struct {
			source string
			want   []string
		}{{Microdata, c.microdata(page.Microdata)}, {RDFa, c.graph(page.RDFa)}, {JSONLD, c.graph(page.JSONLD)}} {
			var got []string
			for i := range found.Items {
				if item := &found.Items[i]; item.Source == language.source {
					c.say(&got, item)
				}
			}
			if len(language.want) > 0 {
				pages[language.source]++
			}
			if one := apart[page.Name+" "+language.source]; one != "" {
				here := func(s string) bool { return strings.Contains(s, one) }
				if !slices.ContainsFunc(slices.Concat(got, language.want), here) {
					t.Errorf("%s: nothing is said about %q", page.Name, one)
				}
				got, language.want = slices.DeleteFunc(got, here), slices.DeleteFunc(language.want, here)
			}
			slices.Sort(got)
			slices.Sort(language.want)
			if diff := cmp.Diff(slices.Compact(language.want), slices.Compact(got)); diff != "" {
				t.Errorf("%s, %s (-%s +got):\n%s", page.Name, language.source, "reference", diff)
			}
		}
	}
	t.Logf("pages with items of each language: %v", pages)
	if len(references(t)) < 100 || pages[JSONLD] < 30 || pages[Microdata] < 30 || pages[RDFa] < 30 {
		t.Errorf("too few pages: %v", pages)
	}
}

// apart are the statements on which the programs differ, by a part of them.
var apart = map[string]string{
	// extruct drops the whole line of a comment.
	"pages/broken.html json-ld": `name "wrapped"`,
	// A name that is in no vocabulary is not a statement of JSON-LD. Here it is a property as written.
	"pages/contexts-jsonld.html json-ld": `> unknown "dropped?"`,
	// pyRdfa, told by its caller that the page is XML, does not know the datetime attribute.
	"pages/rdfa-core.html rdfa": `ns#when "`,
	// Elements in a property are a literal of XML in XHTML+RDFa 1.0, and text since RDFa 1.1.
	"pages/rdfa-drupal.html rdfa": `content/encoded "`,
}

// canon writes what is said about things.
type canon struct {
	t       *testing.T
	resolve func(string) (string, bool)
}

func (c canon) text(text string) string {
	text = strings.Join(strings.Fields(text), "")
	if isWebURL(text) {
		if u, ok := c.resolve(text); ok {
			text = u
		}
	}
	return short(text)
}

// name of a subject: its id, or all that is said about it.
func (c canon) name(said *[]string, item *codecs.ParsedItem) string {
	if item.ID != "" && !strings.HasPrefix(item.ID, "_:") {
		c.say(said, item)
		return "<" + c.text(item.ID) + ">"
	}
	var own []string
	for _, name := range item.Types {
		own = append(own, "a "+short(name))
	}
	for name, values := range item.Properties {
		for _, v := range values {
			own = append(own, short(name)+" "+c.value(said, v))
		}
	}
	slices.Sort(own)
	return "[" + strings.Join(slices.Compact(own), "; ") + "]"
}

// say appends what is said about an item.
func (c canon) say(said *[]string, item *codecs.ParsedItem) {
	if item.ID == "" || strings.HasPrefix(item.ID, "_:") {
		*said = append(*said, c.name(said, item))
		return
	}
	for _, name := range item.Types {
		*said = append(*said, "<"+c.text(item.ID)+"> a "+short(name))
	}
	for name, values := range item.Properties {
		for _, v := range values {
			*said = append(*said, "<"+c.text(item.ID)+"> "+short(name)+" "+c.value(said, v))
		}
	}
}

func (c canon) value(said *[]string, v codecs.ParsedValue) string {
	switch {
	case v.Item != nil:
		return c.name(said, v.Item)
	case v.URL != "":
		return "<" + c.text(v.URL) + ">"
	case v.Number != "":
		f, err := v.Number.Float64()
		if err != nil {
			c.t.Error(err)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case v.Bool != nil:
		return fmt.Sprint(*v.Bool)
	}
	return strconv.Quote(c.text(v.Text))
}

// literal is the text of another program as a value.
func (c canon) literal(value any) codecs.ParsedValue {
	switch value := value.(type) {
	case string:
		if isWebURL(strings.TrimSpace(value)) {
			return codecs.ParsedValue{URL: strings.TrimSpace(value)}
		}
		return codecs.ParsedValue{Text: value}
	case float64:
		return codecs.ParsedValue{Number: json.Number(strconv.FormatFloat(value, 'g', -1, 64))}
	case bool:
		return codecs.ParsedValue{Bool: &value}
	}
	c.t.Errorf("%T is a value", value)
	return codecs.ParsedValue{}
}

// microdata are statements of extruct.
func (c canon) microdata(items []map[string]any) (said []string) {
	for _, one := range items {
		c.say(&said, c.microdataItem(one))
	}
	return said
}

func (c canon) microdataItem(one map[string]any) *codecs.ParsedItem {
	item := &codecs.ParsedItem{Properties: codecs.ParsedProperties{}}
	item.ID, _ = one["id"].(string)
	types, _ := one["type"].([]any)
	for _, name := range types {
		item.Types = append(item.Types, name.(string))
	}
	properties, _ := one["properties"].(map[string]any)
	for name, values := range properties {
		for _, v := range values.([]any) {
			if inner, ok := v.(map[string]any); ok {
				item.Properties[name] = append(item.Properties[name], codecs.ParsedValue{Item: c.microdataItem(inner)})
			} else if v != "" {
				item.Properties[name] = append(item.Properties[name], c.literal(v))
			}
		}
	}
	return item
}

// graph are statements of expanded JSON-LD, which all other programs but that write. A node without an id
// stands where it is mentioned.
func (c canon) graph(nodes []map[string]any) (said []string) {
	blank := map[string]map[string]any{}
	mentioned := map[string]bool{}
	var look func(value any)
	look = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				look(one)
			}
		case map[string]any:
			if id, _ := value["@id"].(string); strings.HasPrefix(id, "_:") && len(value) == 1 {
				mentioned[id] = true
			}
			for _, one := range value {
				look(one)
			}
		}
	}
	for _, node := range nodes {
		if id, _ := node["@id"].(string); strings.HasPrefix(id, "_:") {
			blank[id] = node
		}
		look(node)
	}
	for _, node := range nodes {
		if id, _ := node["@id"].(string); mentioned[id] {
			continue
		}
		c.say(&said, c.node(node, blank))
	}
	return said
}

func (c canon) node(node map[string]any, blank map[string]map[string]any) *codecs.ParsedItem {
	item := &codecs.ParsedItem{Properties: codecs.ParsedProperties{}}
	item.ID, _ = node["@id"].(string)
	if of := blank[item.ID]; of != nil {
		node, item.ID = of, ""
	}
	for name, values := range node {
		if name == "@type" {
			for _, one := range values.([]any) {
				item.Types = append(item.Types, one.(string))
			}
		}
		if strings.HasPrefix(name, "@") || strings.HasPrefix(name, "http://ogp.me/") || strings.HasPrefix(name, "http://www.w3.org/1999/xhtml/vocab#") ||
			strings.HasPrefix(name, "https://ogp.me/") || name == "http://www.w3.org/ns/rdfa#usesVocabulary" {
			continue
		}
		for _, v := range values.([]any) {
			item.Properties[name] = append(item.Properties[name], c.nodeValues(v.(map[string]any), blank)...)
		}
	}
	return item
}

func (c canon) nodeValues(v map[string]any, blank map[string]map[string]any) (found []codecs.ParsedValue) {
	switch {
	case v["@list"] != nil:
		for _, one := range v["@list"].([]any) {
			found = append(found, c.nodeValues(one.(map[string]any), blank)...)
		}
	case v["@value"] != nil:
		if v["@value"] != "" {
			found = append(found, c.literal(v["@value"]))
		}
	default:
		if id, _ := v["@id"].(string); len(v) == 1 && !strings.HasPrefix(id, "_:") {
			return []codecs.ParsedValue{{URL: id}}
		}
		found = append(found, codecs.ParsedValue{Item: c.node(v, blank)})
	}
	return found
}
