package parse

import (
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/office"
)

// officeHandler reads files of office programs. If the media type names such a format, and the body
// may be such a file, this handler reads it. The body tells the kind. Servers that do not know
// these formats call them archives or bytes.
var officeHandler = handler{
	name: "office",
	takes: func(b *body) bool {
		switch {
		case mediatype.IsOffice(b.media):
			return office.IsContainer(b.Body)
		case b.media == "application/octet-stream", b.media == "application/zip", b.media == "application/x-zip-compressed", b.media == "text/plain":
			return office.Looks(b.Body) != office.None
		}
		return false
	},
	page: (*parser).office,
}

func (p *parser) office(b *body) *document.Page {
	read := office.Read(b.Body, office.Options{Bounds: fileBounds(p.follow), MaxUnpackedBytes: office.MaxUnpackedBytes, Chapter: p.chapter})
	if read.Kind == office.None && read.Outcome == extract.Whole {
		read.Outcome = extract.Damaged // its media type says that it is one
	}
	return p.filePage(b, &read.Document)
}

// chapter reads a file of HTML within a book.
func (p *parser) chapter(html []byte) office.Chapter {
	page := p.documents.Document(document.Input{ContentType: "application/xhtml+xml", Body: html})
	c := office.Chapter{Text: page.Text, Truncated: page.TextTruncated}
	for _, h := range page.Headings {
		c.Headings = append(c.Headings, extract.Heading(h))
	}
	for _, l := range page.Links {
		if l.Kind == document.KindAnchor {
			c.Links = append(c.Links, extract.Link{URL: l.URL, Text: l.Text})
		}
	}
	return c
}
