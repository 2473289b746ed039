// Package codecs turns records into bytes and back: protobuf for the records
// of the loop (package weftpb, schema in proto/), JSON for what people write
// and read.
package codecs

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"time"

	gojson "github.com/goccy/go-json"
)

// Parsed is one record of the topic parsed: a page for the users of the crawl.
// parsed.schema.json describes its JSON, property by property.
//
// The record of a page that asks not to be indexed is like any other, with
// Robots.NoIndex set: its users decide what to do about that. A crawl can leave out
// the contents of such pages (document.Options); then Unparsed says so.
type Parsed struct {
	// ID names the page. A repetition after a crash has the same id.
	ID     string `json:"id"`
	URL    string `json:"url"`
	Domain string `json:"domain"`
	Crawl  string `json:"crawl,omitempty"`
	Status int    `json:"status"`
	// FetchedAt is when the request was made, UTC. Its year is 0 to 9999.
	FetchedAt time.Time `json:"fetched_at"`
	Depth     uint32    `json:"depth"`

	// ContentType is the media type by which the body was read, without
	// parameters.
	ContentType string `json:"content_type,omitempty"`
	Charset     string `json:"charset,omitempty"`
	// BodyBytes is the size of the body without its Content-Encoding.
	BodyBytes int64 `json:"body_bytes"`
	// BodyHash is the SHA-256 of these bytes in hexadecimal, of images and of bodies that are not
	// read; empty: the body is read as a text, or cut.
	BodyHash string `json:"body_sha256,omitempty"`
	// Truncated: the body was cut at the limit.
	Truncated bool `json:"truncated,omitempty"`
	// Unparsed and Fallback are the reasons of the same names in document.Page: why there is no
	// text, and why the document was not read as others are.
	Unparsed string `json:"unparsed,omitempty"`
	Fallback string `json:"fallback,omitempty"`

	// ContentHash, SimHash and MinHash are the fingerprints of the text by package
	// simhash, in hexadecimal. The record may have them without the text. Empty: there
	// was no text, or for SimHash and MinHash too little.
	ContentHash string `json:"content_hash,omitempty"`
	SimHash     string `json:"simhash,omitempty"`
	MinHash     string `json:"minhash,omitempty"`
	// DuplicateOf is the earlier page with the same text, or nearly the same; nil:
	// there is none.
	DuplicateOf *ParsedOriginal `json:"duplicate_of,omitempty"`
	// Unfollowed says why the crawl did not follow the links of the page, unless the
	// page or its links ask for that.
	Unfollowed string `json:"unfollowed,omitempty"`
	// Archived says where the archive has the exchange of the page; nil: the crawl had no archive
	// when the page was parsed.
	Archived *ParsedArchived `json:"archived,omitempty"`

	// Language is as declared.
	Language string `json:"language,omitempty"`
	// Detected is the language that the text shows, and Confidence, between 0 and 1, how likely it is in
	// view of other languages; empty and 0: the text is too short, or not in one language that is known.
	Detected   string  `json:"detected_language,omitempty"`
	Confidence float64 `json:"language_confidence,omitempty"`
	// Script is the script of most letters of the text (ISO 15924), and Direction, ltr or rtl, the one that
	// the page declares, or else the direction of the script.
	Script    string `json:"script,omitempty"`
	Direction string `json:"direction,omitempty"`

	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Keywords    string `json:"keywords,omitempty"`
	Author      string `json:"author,omitempty"`
	// Date is written as in the page.
	Date string `json:"date,omitempty"`
	// Modified is written as in the document.
	Modified string `json:"modified,omitempty"`
	// Pages is the number of pages, slides or sheets of a file; 0: it has no pages, or does not
	// say.
	Pages int `json:"pages,omitempty"`
	// Canonical is absolute if it could be resolved, otherwise as written.
	Canonical string `json:"canonical,omitempty"`
	// CanonicalConflict: the page names several canonical URLs, and Canonical is
	// empty.
	CanonicalConflict bool         `json:"canonical_conflict,omitempty"`
	Robots            ParsedRobots `json:"robots"`

	// Headings and Links are arrays in JSON, even if they are nil.
	Headings []ParsedHeading `json:"headings"`
	Text     string          `json:"text,omitempty"`
	// TextTruncated: the text was cut at the limit.
	TextTruncated bool `json:"text_truncated,omitempty"`
	// MainText and Markdown are the main text of the page, without navigation, in a crawl that
	// asks for them. MainTruncated: one of them was cut at the limit. MainUnparsed says why
	// there is none.
	MainText      string `json:"main_text,omitempty"`
	Markdown      string `json:"markdown,omitempty"`
	MainTruncated bool   `json:"main_truncated,omitempty"`
	MainUnparsed  string `json:"main_unparsed,omitempty"`

	// Fields is the object of what the rule FieldsBy of the crawl took out of the page, as compact
	// JSON. FieldErrors are the fields that are not there, or not as the rule wants them.
	Fields      json.RawMessage    `json:"fields,omitempty"`
	FieldsBy    string             `json:"fields_by,omitempty"`
	FieldErrors []ParsedFieldError `json:"field_errors,omitempty"`

	OpenGraph []ParsedProperty `json:"open_graph,omitempty"`
	// JSONLD are the scripts of type application/ld+json, as they are in the page,
	// valid JSON or not.
	JSONLD []string `json:"json_ld,omitempty"`
	// JSONLDOmitted counts those beyond the limit for one page.
	JSONLDOmitted int `json:"json_ld_omitted,omitempty"`
	// Structured is what JSON-LD, microdata, RDFa and meta elements say, in one shape; nil: the page has
	// none of them, or the crawl does not ask for it.
	Structured *ParsedStructuredData `json:"structured_data,omitempty"`

	// Feed has the contents of a feed; nil: the page is not a feed.
	Feed *ParsedFeed `json:"feed,omitempty"`
	// Structure describes a text that has a format: Markdown, JSON, CSV, source code; nil: it
	// has another format.
	Structure *ParsedStructure `json:"structure,omitempty"`

	// Image is what an image says; nil: the page is not an image.
	Image *ParsedImage `json:"image,omitempty"`

	// Directives are what the site says about what may be done with the page, one by one.
	Directives []ParsedDirective `json:"directives,omitempty"`
	// Usage is what they say together about its use: y or n for each use that they name.
	Usage map[string]string `json:"usage,omitempty"`

	Links []ParsedLink `json:"links"`
	// LinksOmitted counts links beyond the limit for one page.
	LinksOmitted int `json:"links_omitted,omitempty"`
}

// ParsedRobots are the directives of a page for robots.
type ParsedRobots struct {
	NoIndex   bool `json:"noindex"`
	NoFollow  bool `json:"nofollow"`
	NoArchive bool `json:"noarchive,omitempty"`
	NoSnippet bool `json:"nosnippet,omitempty"`
	// UnavailableAfter is a date, as written.
	UnavailableAfter string `json:"unavailable_after,omitempty"`
}

// ParsedOriginal is the page that another is a duplicate of.
type ParsedOriginal struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	// Distance is 0 if the texts are the same. Otherwise it is 1 to 3, by the number
	// of bits in which their SimHashes differ.
	Distance int `json:"distance"`
}

// Duplicate is the reason of Unparsed and Unfollowed of a page without text, or
// whose links were not followed, because it is a duplicate.
const Duplicate = "duplicate"

// SitemapsOnly is the reason of Unfollowed of all pages of a crawl that follows no links.
const SitemapsOnly = "sitemaps_only"

// ParsedHeading is an element h1 to h6.
type ParsedHeading struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
}

// ParsedProperty is one Open Graph property; several may have one name.
type ParsedProperty struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}

// ParsedFeed is what a feed says besides title, description, author and date of its page. URLs
// are absolute if they could be resolved, and dates as written.
type ParsedFeed struct {
	// Kind is rss, atom or json.
	Kind string `json:"kind"`
	// Link is the page that the feed belongs to.
	Link string `json:"link,omitempty"`
	// Self is the URL of the feed, and Hubs tell of changes, as the feed says (WebSub).
	Self string   `json:"self,omitempty"`
	Hubs []string `json:"hubs,omitempty"`
	// Entries is an array in JSON, even if it is nil.
	Entries []ParsedEntry `json:"entries"`
	// EntriesOmitted counts those beyond the limit for one feed.
	EntriesOmitted int `json:"entries_omitted,omitempty"`
}

// ParsedEntry is an entry of a feed.
type ParsedEntry struct {
	URL     string `json:"url,omitempty"`
	ID      string `json:"id,omitempty"`
	Title   string `json:"title,omitempty"`
	Author  string `json:"author,omitempty"`
	Date    string `json:"date,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// ParsedStructure describes the format of a text that is not HTML.
type ParsedStructure struct {
	// Format is one of plain.Format: markdown, json, json_lines, csv or code.
	Format string `json:"format"`
	// Language is the programming language, by its name in GitHub's Linguist.
	Language string `json:"programming_language,omitempty"`
	// Columns are the cells of the first row of a table.
	Columns []string `json:"columns,omitempty"`
	// Values is the number of values of JSON that could be read, and of the rows of a table.
	Values int `json:"values,omitempty"`
	// Wrong names what is wrong with the text; empty: nothing is. See package plain.
	Wrong string `json:"wrong,omitempty"`
}

// ParsedFieldError is a field that a page does not have as its rule says.
type ParsedFieldError struct {
	// Field has the numbers of items, from 0: offers[1].price. Empty: it is about the whole page.
	Field string `json:"field,omitempty"`
	Error string `json:"error"`
	// Value is what is there instead, or its beginning.
	Value string `json:"value,omitempty"`
}

// ParsedDirective is one statement about what may be done with a page.
type ParsedDirective struct {
	// Source is header, meta or robots.txt. Field is the name of the header field, meta element or
	// line that has it.
	Source string `json:"source"`
	Field  string `json:"field"`
	// Agent is the agent that it is for; empty: all agents.
	Agent string `json:"agent,omitempty"`
	Value string `json:"value"`
}

// ParsedLink is a link of a page, to another page or to a part of itself.
type ParsedLink struct {
	// URL is canonical; if it was refused, it is as written.
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
	// Caption is that of the figure that shows an image or other media.
	Caption string `json:"caption,omitempty"`
	Rel     string `json:"rel,omitempty"`
	// Kind is one of document.Kind.
	Kind string `json:"kind,omitempty"`
	// Element is the kind of the element, of links within a noscript or noframes element.
	Element string `json:"element,omitempty"`
	// Language is the language of the page at URL, according to the link.
	Language string `json:"hreflang,omitempty"`
}

//go:embed parsed.schema.json
var parsedSchema string

// ParsedSchema returns the JSON Schema (draft 2020-12) of Parsed.
func ParsedSchema() string { return parsedSchema }

// MarshalJSON is AppendJSON for encoding/json.
func (p Parsed) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// AppendJSON appends the record as one line of JSON without the newline. Except for nil slices
// it is byte for byte what encoding/json makes of the fields with HTML escaping off. go-json takes
// a fraction of the time of encoding/json.
func (p Parsed) AppendJSON(dst []byte) []byte {
	if year := p.FetchedAt.Year(); year < 0 || year > 9999 { // of another program; RFC 3339 has no such year
		const member = `"fetched_at":"` // stands in no string: its quotes would be escaped there
		at := p.FetchedAt.Format(time.RFC3339Nano)
		p.FetchedAt = time.Time{}
		return append(dst, bytes.Replace(p.AppendJSON(nil), []byte(member+"0001-01-01T00:00:00Z"), []byte(member+at), 1)...)
	}
	if p.Headings == nil {
		p.Headings = []ParsedHeading{}
	}
	if p.Links == nil {
		p.Links = []ParsedLink{}
	}
	if p.Feed != nil && p.Feed.Entries == nil {
		feed := *p.Feed
		feed.Entries, p.Feed = []ParsedEntry{}, &feed
	}
	type fields Parsed // without MarshalJSON
	return appendValue(dst, (*fields)(&p))
}

// appendValue appends a value as compact JSON, with HTML escaping off.
func appendValue(dst []byte, value any) []byte {
	out := bytes.NewBuffer(dst)
	encoder := gojson.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("codecs: encode JSON: " + err.Error()) // numbers are finite, and a RawMessage is valid
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// ParsedArchived is the record of fetched that has an exchange. It names the file of an archive:
// that of the partition with the largest first offset that is not above Offset.
type ParsedArchived struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset"`
}
