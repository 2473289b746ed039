package reparse

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/weftcrawl/weft/codecs"
)

// Row is a page as a row of a table. Columns have the names of the fields of parsed, and are null
// where a page does not have the field. Members of an object have names of their own if they are few
// and scalar: those of robots, archived and duplicate_of. Other objects, and lists of objects, are JSON
// except for Headings and Links.
type Row struct {
	ID             string       `parquet:"id,zstd"`
	URL            string       `parquet:"url,zstd"`
	Domain         string       `parquet:"domain,dict,zstd"`
	Crawl          string       `parquet:"crawl,dict,zstd"`
	Status         int32        `parquet:"status,dict,zstd"`
	FetchedAt      time.Time    `parquet:"fetched_at,timestamp(millisecond),zstd"`
	Depth          int32        `parquet:"depth,dict,zstd"`
	ContentType    string       `parquet:"content_type,optional,dict,zstd"`
	Charset        string       `parquet:"charset,optional,dict,zstd"`
	BodyBytes      int64        `parquet:"body_bytes,zstd"`
	Truncated      bool         `parquet:"truncated"`
	Unparsed       string       `parquet:"unparsed,optional,dict,zstd"`
	ContentHash    string       `parquet:"content_hash,optional,zstd"`
	SimHash        string       `parquet:"simhash,optional,zstd"`
	Archive        *int32       `parquet:"archived_partition,optional,dict,zstd"`
	ArchiveOffset  *int64       `parquet:"archived_offset,optional,zstd"`
	Language       string       `parquet:"language,optional,dict,zstd"`
	Detected       string       `parquet:"detected_language,optional,dict,zstd"`
	Confidence     float64      `parquet:"language_confidence,zstd"`
	Script         string       `parquet:"script,optional,dict,zstd"`
	Title          string       `parquet:"title,optional,zstd"`
	Description    string       `parquet:"description,optional,zstd"`
	Keywords       string       `parquet:"keywords,optional,zstd"`
	Author         string       `parquet:"author,optional,zstd"`
	Date           string       `parquet:"date,optional,zstd"`
	Modified       string       `parquet:"modified,optional,zstd"`
	Canonical      string       `parquet:"canonical,optional,zstd"`
	NoIndex        bool         `parquet:"noindex"`
	NoFollow       bool         `parquet:"nofollow"`
	Headings       []HeadingRow `parquet:"headings,list"`
	Text           string       `parquet:"text,optional,zstd"`
	MainText       string       `parquet:"main_text,optional,zstd"`
	Markdown       string       `parquet:"markdown,optional,zstd"`
	Fields         string       `parquet:"fields,optional,zstd"`
	FieldsBy       string       `parquet:"fields_by,optional,dict,zstd"`
	StructuredData string       `parquet:"structured_data,optional,zstd"`
	Usage          string       `parquet:"usage,optional,dict,zstd"`
	Links          []LinkRow    `parquet:"links,list"`

	BodyHash          string   `parquet:"body_sha256,optional,zstd"`
	Fallback          string   `parquet:"fallback,optional,dict,zstd"`
	MinHash           string   `parquet:"minhash,optional,zstd"`
	Duplicate         string   `parquet:"duplicate_of_id,optional,zstd"`
	DuplicateURL      string   `parquet:"duplicate_of_url,optional,zstd"`
	DuplicateDistance *int32   `parquet:"duplicate_of_distance,optional,dict,zstd"`
	Unfollowed        string   `parquet:"unfollowed,optional,dict,zstd"`
	Direction         string   `parquet:"direction,optional,dict,zstd"`
	Pages             int32    `parquet:"pages,optional,dict,zstd"`
	CanonicalConflict bool     `parquet:"canonical_conflict"`
	NoArchive         bool     `parquet:"noarchive"`
	NoSnippet         bool     `parquet:"nosnippet"`
	UnavailableAfter  string   `parquet:"unavailable_after,optional,zstd"`
	TextTruncated     bool     `parquet:"text_truncated"`
	MainTruncated     bool     `parquet:"main_truncated"`
	MainUnparsed      string   `parquet:"main_unparsed,optional,dict,zstd"`
	FieldErrors       string   `parquet:"field_errors,optional,zstd"`
	OpenGraph         string   `parquet:"open_graph,optional,zstd"`
	JSONLD            []string `parquet:"json_ld,list,zstd"`
	JSONLDOmitted     int32    `parquet:"json_ld_omitted,optional,dict,zstd"`
	Feed              string   `parquet:"feed,optional,zstd"`
	Structure         string   `parquet:"structure,optional,zstd"`
	Image             string   `parquet:"image,optional,zstd"`
	Directives        string   `parquet:"directives,optional,zstd"`
	LinksOmitted      int32    `parquet:"links_omitted,optional,dict,zstd"`
}

// HeadingRow is an item of Headings.
type HeadingRow struct {
	Level int32  `parquet:"level,zstd"`
	Text  string `parquet:"text,zstd"`
}

// LinkRow is an item of Links.
type LinkRow struct {
	URL  string `parquet:"url,zstd"`
	Text string `parquet:"text,optional,zstd"`
	Rel  string `parquet:"rel,optional,dict,zstd"`
	Kind string `parquet:"kind,optional,dict,zstd"`
}

// columns is a file of Parquet.
type columns struct {
	out   *parquet.GenericWriter[Row]
	bytes int
}

// groupBytes is the size of the pages of a row group, as JSON.
const groupBytes = 16 << 20

func newColumns(w io.Writer) *columns { return &columns{out: parquet.NewGenericWriter[Row](w)} }

func (c *columns) add(p page) error {
	parsed, err := p.decoded()
	if err != nil {
		return err
	}
	row, err := rowOf(&parsed)
	if err != nil {
		return err
	}
	if _, err := c.out.Write([]Row{row}); err != nil {
		return err
	}
	if c.bytes += len(p.line); c.bytes > groupBytes {
		c.bytes = 0
		return c.out.Flush()
	}
	return nil
}

func (c *columns) close() error { return c.out.Close() }

// rowOf is the row of a page.
func rowOf(p *codecs.Parsed) (r Row, err error) {
	r = Row{
		ID: p.ID, URL: p.URL, Domain: p.Domain, Crawl: p.Crawl, Status: int32(p.Status), FetchedAt: p.FetchedAt, Depth: int32(p.Depth),
		ContentType: p.ContentType, Charset: p.Charset, BodyBytes: p.BodyBytes, Truncated: p.Truncated, Unparsed: p.Unparsed,
		ContentHash: p.ContentHash, SimHash: p.SimHash, Language: p.Language, Detected: p.Detected, Confidence: p.Confidence,
		Script: p.Script, Title: p.Title, Description: p.Description, Keywords: p.Keywords, Author: p.Author,
		Date: p.Date, Modified: p.Modified, Canonical: p.Canonical, NoIndex: p.Robots.NoIndex, NoFollow: p.Robots.NoFollow,
		Text: p.Text, MainText: p.MainText, Markdown: p.Markdown, Fields: string(p.Fields), FieldsBy: p.FieldsBy,
		BodyHash: p.BodyHash, Fallback: p.Fallback, MinHash: p.MinHash, Unfollowed: p.Unfollowed, Direction: p.Direction, Pages: int32(p.Pages),
		CanonicalConflict: p.CanonicalConflict, NoArchive: p.Robots.NoArchive, NoSnippet: p.Robots.NoSnippet, UnavailableAfter: p.Robots.UnavailableAfter,
		TextTruncated: p.TextTruncated, MainTruncated: p.MainTruncated, MainUnparsed: p.MainUnparsed,
		JSONLD: p.JSONLD, JSONLDOmitted: int32(p.JSONLDOmitted), LinksOmitted: int32(p.LinksOmitted),
	}
	if at := p.Archived; at != nil {
		r.Archive, r.ArchiveOffset = &at.Partition, &at.Offset
	}
	if of := p.DuplicateOf; of != nil {
		distance := int32(of.Distance)
		r.Duplicate, r.DuplicateURL, r.DuplicateDistance = of.ID, of.URL, &distance
	}
	for _, h := range p.Headings {
		r.Headings = append(r.Headings, HeadingRow{int32(h.Level), h.Text})
	}
	for _, l := range p.Links {
		r.Links = append(r.Links, LinkRow{l.URL, l.Text, l.Rel, l.Kind})
	}
	return r, r.nested(p)
}

// nested fills in the columns of JSON.
func (r *Row) nested(p *codecs.Parsed) error {
	for _, c := range []struct {
		column *string
		there  bool
		value  any
	}{
		{&r.StructuredData, p.Structured != nil, p.Structured},
		{&r.Usage, len(p.Usage) > 0, p.Usage},
		{&r.FieldErrors, len(p.FieldErrors) > 0, p.FieldErrors},
		{&r.OpenGraph, len(p.OpenGraph) > 0, p.OpenGraph},
		{&r.Feed, p.Feed != nil, p.Feed},
		{&r.Structure, p.Structure != nil, p.Structure},
		{&r.Image, p.Image != nil, p.Image},
		{&r.Directives, len(p.Directives) > 0, p.Directives},
	} {
		if !c.there {
			continue
		}
		text, err := jsonOf(c.value)
		if err != nil {
			return err
		}
		*c.column = text
	}
	return nil
}

func jsonOf(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode a column: %w", err)
	}
	return string(text), nil
}
