// Package codecs turns records into bytes and back: protobuf for the records
// of the loop (package weftpb, schema in proto/), JSON for what people write
// and read.
package codecs

import (
	_ "embed"
	"strconv"
	"time"
)

// Parsed is one record of the topic parsed: a page as its users get it. Its
// JSON is described, property by property, in parsed.schema.json.
//
// The record of a page that asks not to be indexed is like any other, with
// Robots.NoIndex set: what to do about it is for those who publish. A crawl
// can be told to leave the contents of such pages out (parse.Options); then
// Unparsed says so.
type Parsed struct {
	// ID names the page; a repeat after a crash has the same.
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
	// Truncated: the body was cut at the limit.
	Truncated bool `json:"truncated,omitempty"`
	// Unparsed and Fallback are the reasons of the same names in parse.Page.
	Unparsed string `json:"unparsed,omitempty"`
	Fallback string `json:"fallback,omitempty"`

	Language    string `json:"language,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Canonical is absolute where it could be resolved, else as written.
	Canonical string       `json:"canonical,omitempty"`
	Robots    ParsedRobots `json:"robots"`

	// Headings and Links are arrays in JSON even when nil.
	Headings []ParsedHeading `json:"headings"`
	Text     string          `json:"text,omitempty"`
	// TextTruncated: the text was cut at the limit.
	TextTruncated bool         `json:"text_truncated,omitempty"`
	Links         []ParsedLink `json:"links"`
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
	// Distance is 0 if the texts are the same, else 1 to 3, by the bits in which
	// their SimHashes differ.
	Distance int `json:"distance"`
}

// ParsedHeading is an element h1 to h6.
type ParsedHeading struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
}

// ParsedLink is an outlink.
type ParsedLink struct {
	// URL is canonical, or as written where it was refused.
	URL  string `json:"url"`
	Text string `json:"text,omitempty"`
	Rel  string `json:"rel,omitempty"`
}

//go:embed parsed.schema.json
var parsedSchema string

// ParsedSchema returns the JSON Schema (draft 2020-12) of Parsed.
func ParsedSchema() string { return parsedSchema }

// MarshalJSON is AppendJSON for those who have encoding/json do it.
func (p Parsed) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// AppendJSON appends the record as one line of JSON without the newline. It is
// what encoding/json makes of the fields with HTML escaping off, byte for byte
// (nil slices apart), in a fraction of the time: most of a record is one long
// string, which needs a look at every byte and no more.
func (p Parsed) AppendJSON(dst []byte) []byte {
	dst = appendString(append(dst, `{"id":`...), p.ID)
	dst = appendString(append(dst, `,"url":`...), p.URL)
	dst = appendString(append(dst, `,"domain":`...), p.Domain)
	dst = appendMember(dst, `,"crawl":`, p.Crawl)
	dst = strconv.AppendInt(append(dst, `,"status":`...), int64(p.Status), 10)
	dst = p.FetchedAt.AppendFormat(append(dst, `,"fetched_at":"`...), time.RFC3339Nano)
	dst = strconv.AppendUint(append(dst, `","depth":`...), uint64(p.Depth), 10)

	dst = appendMember(dst, `,"content_type":`, p.ContentType)
	dst = appendMember(dst, `,"charset":`, p.Charset)
	dst = strconv.AppendInt(append(dst, `,"body_bytes":`...), p.BodyBytes, 10)
	dst = appendFlag(dst, `,"truncated":true`, p.Truncated)
	dst = appendMember(dst, `,"unparsed":`, p.Unparsed)
	dst = appendMember(dst, `,"fallback":`, p.Fallback)

	dst = appendMember(dst, `,"language":`, p.Language)
	dst = appendMember(dst, `,"title":`, p.Title)
	dst = appendMember(dst, `,"description":`, p.Description)
	dst = appendMember(dst, `,"canonical":`, p.Canonical)
	dst = strconv.AppendBool(append(dst, `,"robots":{"noindex":`...), p.Robots.NoIndex)
	dst = strconv.AppendBool(append(dst, `,"nofollow":`...), p.Robots.NoFollow)

	dst = append(dst, `},"headings":[`...)
	for i, h := range p.Headings {
		dst = appendComma(dst, i)
		dst = strconv.AppendInt(append(dst, `{"level":`...), int64(h.Level), 10)
		dst = appendString(append(dst, `,"text":`...), h.Text)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	dst = appendMember(dst, `,"text":`, p.Text)
	dst = appendFlag(dst, `,"text_truncated":true`, p.TextTruncated)
	dst = append(dst, `,"links":[`...)
	for i, l := range p.Links {
		dst = appendComma(dst, i)
		dst = appendString(append(dst, `{"url":`...), l.URL)
		dst = appendMember(dst, `,"text":`, l.Text)
		dst = appendMember(dst, `,"rel":`, l.Rel)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if p.LinksOmitted != 0 {
		dst = strconv.AppendInt(append(dst, `,"links_omitted":`...), int64(p.LinksOmitted), 10)
	}
	return append(dst, '}')
}
	dst = appendFlag(dst, `,"noarchive":true`, p.Robots.NoArchive)
	dst = appendFlag(dst, `,"nosnippet":true`, p.Robots.NoSnippet)
	dst = appendMember(dst, `,"unavailable_after":`, p.Robots.UnavailableAfter)
