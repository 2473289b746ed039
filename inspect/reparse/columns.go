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
// where a page does not have the field. Fields, structured data and usage are JSON.
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
	}
	if at := p.Archived; at != nil {
		r.Archive, r.ArchiveOffset = &at.Partition, &at.Offset
	}
	for _, h := range p.Headings {
		r.Headings = append(r.Headings, HeadingRow{int32(h.Level), h.Text})
	}
	for _, l := range p.Links {
		r.Links = append(r.Links, LinkRow{l.URL, l.Text, l.Rel, l.Kind})
	}
	if p.Structured != nil {
		if r.StructuredData, err = jsonOf(p.Structured); err != nil {
			return r, err
		}
	}
	if len(p.Usage) > 0 {
		r.Usage, err = jsonOf(p.Usage)
	}
	return r, err
}

func jsonOf(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode a column: %w", err)
	}
	return string(text), nil
}
