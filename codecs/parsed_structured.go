package codecs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
func (v ParsedValue) MarshalJSON() ([]byte, error) {
	switch {
	case v.Item != nil:
		return appendValue(nil, v.Item), nil
	case v.URL != "":
		return appendValue(nil, struct {
			URL string `json:"url"`
		}{v.URL}), nil
	case v.Number != "":
		return []byte(v.Number), nil
	case v.Bool != nil:
		return appendValue(nil, *v.Bool), nil
	case v.Language != "":
		return appendValue(nil, struct {
			Text     string `json:"text"`
			Language string `json:"language"`
		}{v.Text, v.Language}), nil
	}
	return appendValue(nil, v.Text), nil
}

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
