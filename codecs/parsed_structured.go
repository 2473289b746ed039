package codecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ParsedStructuredData is what a page says about itself in a form for programs. Package structured
// makes it. URLs are absolute if they could be resolved.
type ParsedStructuredData struct {
	// Items are the items of JSON-LD, microdata and RDFa that are not in another item.
	Items []ParsedItem `json:"items,omitempty"`

	// OpenGraph are the Open Graph properties. Names have no og:, and other vocabularies keep their
	// prefix (article:tag). A picture, video or sound is an item with what is said about it.
	OpenGraph ParsedProperties `json:"open_graph,omitempty"`
	// Twitter has names without twitter:, and DublinCore without DC. or dcterms.
	Twitter    ParsedProperties `json:"twitter,omitempty"`
	DublinCore ParsedProperties `json:"dublin_core,omitempty"`

	// Published and Modified are dates of the page; nil: it does not say.
	Published   *ParsedDate     `json:"published,omitempty"`
	Modified    *ParsedDate     `json:"modified,omitempty"`
	Authors     []ParsedAuthor  `json:"authors,omitempty"`
	Breadcrumbs [][]ParsedCrumb `json:"breadcrumbs,omitempty"`
	Prices      []ParsedPrice   `json:"prices,omitempty"`

	// Problems are what is wrong with the data, and ProblemsOmitted counts those beyond the bound.
	Problems        []ParsedProblem `json:"problems,omitempty"`
	ProblemsOmitted int             `json:"problems_omitted,omitempty"`
}

// ParsedItem is a thing that a page describes.
type ParsedItem struct {
	// Source is json-ld, microdata or rdfa; empty for an item in another one.
	Source string `json:"source,omitempty"`
	// Types and the names of Properties are without a prefix if they are of schema.org, and otherwise
	// URLs, or as written.
	Types []string `json:"types,omitempty"`
	// ID is a URL, or as written. An item that has nothing else is a reference to the item with this
	// ID, in this page or elsewhere.
	ID         string           `json:"id,omitempty"`
	Properties ParsedProperties `json:"properties,omitempty"`
}

// ParsedProperties are values by the names of properties, in the order of the page.
type ParsedProperties map[string][]ParsedValue

// ParsedValue is one value: one of Item, URL, Number, Bool and Text.
type ParsedValue struct {
	Item   *ParsedItem
	URL    string
	Number json.Number
	Bool   *bool
	Text   string
	// Language is that of Text, if the data says it for this text.
	Language string
}

// ParsedDate is a date with its source.
type ParsedDate struct {
	// Date is in the form of RFC 3339, or a day, a month (2006-01) or a year.
	Date string `json:"date"`
	// Source is json-ld, microdata, rdfa, open-graph, dublin-core, meta, time (an element) or http
	// (a header field), and Property the name there.
	Source   string `json:"source"`
	Property string `json:"property"`
}

// ParsedAuthor is someone who wrote the page; one of Name and URL may be empty.
type ParsedAuthor struct {
	Name   string `json:"name,omitempty"`
	URL    string `json:"url,omitempty"`
	Source string `json:"source"`
}

// ParsedCrumb is one step on the way to a page; one of its members may be empty.
type ParsedCrumb struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

// ParsedPrice is the price of something that the page offers.
type ParsedPrice struct {
	// Amount is a decimal number; of a range it is the lowest price, and Highest the highest.
	Amount  string `json:"amount"`
	Highest string `json:"highest,omitempty"`
	// Currency is a code of ISO 4217; empty: the page does not say.
	Currency string `json:"currency,omitempty"`
	// Item is the name of what costs that, and Availability is as schema.org has it, such as InStock.
	Item         string `json:"item,omitempty"`
	Availability string `json:"availability,omitempty"`
	Source       string `json:"source"`
}

// ParsedProblem is something wrong with structured data, which left a part of it out.
type ParsedProblem struct {
	Source  string `json:"source"`
	Problem string `json:"problem"`
	// Where is the place: the number of a script, or a path in it, or a name.
	Where string `json:"where,omitempty"`
}

// MarshalJSON writes a text as a string, a number and a truth value as such, a URL as {"url": …}, a
// text with its language as {"text": …, "language": …}, and an item as an object of its own.
func (v ParsedValue) MarshalJSON() ([]byte, error) { return v.append(nil), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (v *ParsedValue) UnmarshalJSON(data []byte) error {
	*v = ParsedValue{}
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
		return errors.New("read a value: it is empty")
	case data[0] == '"':
		return json.Unmarshal(data, &v.Text)
	case data[0] == 't' || data[0] == 'f':
		return json.Unmarshal(data, &v.Bool)
	case data[0] != '{':
		return json.Unmarshal(data, &v.Number)
	}
	var special struct {
		URL      string  `json:"url"`
		Text     *string `json:"text"`
		Language string  `json:"language"`
	}
	if err := json.Unmarshal(data, &special); err != nil {
		return fmt.Errorf("read a value: %w", err)
	}
	switch {
	case special.URL != "":
		v.URL = special.URL
	case special.Text != nil:
		v.Text, v.Language = *special.Text, special.Language
	default:
		v.Item = &ParsedItem{}
		return json.Unmarshal(data, v.Item)
	}
	return nil
}

func (v ParsedValue) append(dst []byte) []byte {
	switch {
	case v.Item != nil:
		return v.Item.append(dst)
	case v.URL != "":
		return append(appendString(append(dst, `{"url":`...), v.URL), '}')
	case v.Number != "":
		return append(dst, v.Number...)
	case v.Bool != nil && *v.Bool:
		return append(dst, "true"...)
	case v.Bool != nil:
		return append(dst, "false"...)
	case v.Language != "":
		dst = appendString(append(dst, `{"text":`...), v.Text)
		return append(appendMember(dst, `,"language":`, v.Language), '}')
	}
	return appendString(dst, v.Text)
}

// object appends the members of an object, without a comma in front of the first one.
type object struct {
	dst   []byte
	empty bool
}

func begin(dst []byte) object { return object{dst: append(dst, '{'), empty: true} }

func (o *object) name(name string) {
	if !o.empty {
		o.dst = append(o.dst, ',')
	}
	o.empty = false
	o.dst = append(append(append(o.dst, '"'), name...), '"', ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.always(name, value)
	}
}

func (o *object) always(name, value string) {
	o.name(name)
	o.dst = appendString(o.dst, value)
}

func (o *object) properties(name string, p ParsedProperties) {
	if len(p) > 0 {
		o.name(name)
		o.dst = p.append(o.dst)
	}
}

func (o *object) end() []byte { return append(o.dst, '}') }

func list[T any](o *object, name string, values []T, one func([]byte, T) []byte) {
	if len(values) == 0 {
		return
	}
	o.name(name)
	o.dst = append(o.dst, '[')
	for i, value := range values {
		o.dst = one(appendComma(o.dst, i), value)
	}
	o.dst = append(o.dst, ']')
}

func (p ParsedProperties) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(p)) {
		dst = append(appendString(appendComma(dst, i), name), ':', '[')
		for i, value := range p[name] {
			dst = value.append(appendComma(dst, i))
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func (i *ParsedItem) append(dst []byte) []byte {
	o := begin(dst)
	o.text("source", i.Source)
	list(&o, "types", i.Types, appendString)
	o.text("id", i.ID)
	o.properties("properties", i.Properties)
	return o.end()
}

func (d *ParsedStructuredData) append(dst []byte) []byte {
	o := begin(dst)
	list(&o, "items", d.Items, func(dst []byte, i ParsedItem) []byte { return i.append(dst) })
	o.properties("open_graph", d.OpenGraph)
	o.properties("twitter", d.Twitter)
	o.properties("dublin_core", d.DublinCore)
	for _, date := range []struct {
		name string
		date *ParsedDate
	}{{"published", d.Published}, {"modified", d.Modified}} {
		if date.date != nil {
			o.name(date.name)
			o.dst = date.date.append(o.dst)
		}
	}
	list(&o, "authors", d.Authors, func(dst []byte, a ParsedAuthor) []byte {
		o := begin(dst)
		o.text("name", a.Name)
		o.text("url", a.URL)
		o.always("source", a.Source)
		return o.end()
	})
	list(&o, "breadcrumbs", d.Breadcrumbs, func(dst []byte, crumbs []ParsedCrumb) []byte {
		dst = append(dst, '[')
		for i, c := range crumbs {
			o := begin(appendComma(dst, i))
			o.text("name", c.Name)
			o.text("url", c.URL)
			dst = o.end()
		}
		return append(dst, ']')
	})
	list(&o, "prices", d.Prices, func(dst []byte, p ParsedPrice) []byte {
		o := begin(dst)
		o.always("amount", p.Amount)
		o.text("highest", p.Highest)
		o.text("currency", p.Currency)
		o.text("item", p.Item)
		o.text("availability", p.Availability)
		o.always("source", p.Source)
		return o.end()
	})
	list(&o, "problems", d.Problems, func(dst []byte, p ParsedProblem) []byte {
		o := begin(dst)
		o.always("source", p.Source)
		o.always("problem", p.Problem)
		o.text("where", p.Where)
		return o.end()
	})
	if d.ProblemsOmitted != 0 {
		o.name("problems_omitted")
		o.dst = fmt.Append(o.dst, d.ProblemsOmitted)
	}
	return o.end()
}

func (d *ParsedDate) append(dst []byte) []byte {
	o := begin(dst)
	o.always("date", d.Date)
	o.always("source", d.Source)
	o.always("property", d.Property)
	return o.end()
}
