package parse

import (
	"strings"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/plain"
)

// plainHandler reads plain text, Markdown, JSON, JSON lines, CSV and source code.
var plainHandler = handler{
	name: "plain",
	takes: func(b *body) bool {
		b.plain, b.language = plain.Kind(b.media, b.URL, b.Body)
		return b.plain != plain.None
	},
	page: (*parser).plain,
}

func (p *parser) plain(b *body) *document.Page {
	return p.documents.Write(b.Input, func(w document.Writer) {
		text := w.Decoded(b.plain == plain.JSON || b.plain == plain.Lines) // RFC 8259 section 8.1
		url := func(url string) { w.Link(document.Link{URL: url, Kind: document.KindText}) }
		s := &codecs.ParsedStructure{Format: string(b.plain), Language: b.language}
		switch b.plain {
		case plain.Markdown:
			plain.ReadMarkdown(text, markdownPage{w})
			b.structure = s
			return
		case plain.JSON:
			s.Values, s.Wrong = plain.ReadJSON(text, url)
		case plain.Lines:
			s.Values, s.Wrong = plain.ReadLines(text, url)
		case plain.CSV:
			t := plain.ReadCSV(text, url)
			s.Columns, s.Values, s.Wrong = t.Columns, t.Rows, t.Wrong
		case plain.Code:
		default:
			s = nil
			plain.URLs(text, url)
		}
		if b.structure = s; s != nil && s.Wrong != "" && (b.Truncated || len(b.Body) > p.follow.MaxTextBytes) {
			s.Wrong = plain.Cut // Weft cut the body
		}
		w.Verbatim(text)
	})
}

// markdownPage makes a page of a Markdown text.
type markdownPage struct{ document.Writer }

func (m markdownPage) Heading(level int, text string) {
	m.Writer.Heading(level, text)
	if level == 1 {
		m.Writer.Field(&m.Page().Title, text)
	}
}

func (m markdownPage) Link(url, text string, image bool) {
	kind := document.KindAnchor
	if image {
		kind = document.KindImage
	}
	m.Writer.Link(document.Link{URL: url, Text: text, Kind: kind})
}

// Field takes a field of the front matter.
func (m markdownPage) Field(name, value string) {
	page := m.Page()
	field := map[string]*string{
		"title": &page.Title, "description": &page.Description, "summary": &page.Description, "author": &page.Author, "date": &page.Date,
		"keywords": &page.Keywords, "lang": &page.Language, "language": &page.Language,
	}[strings.ToLower(strings.TrimSpace(name))]
	if field != nil {
		m.Writer.Field(field, value)
	}
}
