package parse

import (
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/office"
)

// officeHandler reads files of office programs. A type that is stated is believed, if the body
// may be such a file at all; what kind it is, the body says. Servers that do not know these
// formats say that they are archives or bytes.
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
	o := office.Options{
		MaxTextBytes: p.follow.MaxTextBytes, MaxLinks: p.follow.MaxLinks, MaxHrefBytes: p.follow.MaxHrefBytes, MaxAnchorBytes: p.follow.MaxAnchorBytes,
		MaxHeadings: p.follow.MaxHeadings, MaxFieldBytes: p.follow.MaxFieldBytes, MaxUnpackedBytes: office.MaxUnpackedBytes, Chapter: p.chapter,
	}
	read := office.Read(b.Body, o)
	page := p.bare(b)
	if read.Kind == office.None && read.Outcome == office.Whole {
		read.Outcome = office.Damaged // it was said to be one
	}
	page.Title, page.Description, page.Keywords, page.Author = read.Title, read.Description, read.Keywords, read.Author
	page.Date, page.Modified, page.Pages = read.Created, read.Modified, read.Pages
	if read.Language != "" {
		page.Language = read.Language
	}
	page.Text, page.TextTruncated = read.Text, read.TextTruncated
	for _, h := range read.Headings {
		page.Headings = append(page.Headings, document.Heading(h))
	}
	links := pageLinks{page: page, follow: &p.follow, seen: map[string]bool{b.URL: true}}
	for _, l := range read.Links {
		links.add(l.URL, l.Text, "", document.KindAnchor)
	}
	page.Skipped.Many += read.LinksOmitted
	p.finish(page, string(read.Outcome))
	return page
}

// chapter reads a file of HTML within a book.
func (p *parser) chapter(html []byte) office.Chapter {
	page := p.documents.Document(document.Input{ContentType: "application/xhtml+xml", Body: html})
	c := office.Chapter{Text: page.Text, Truncated: page.TextTruncated}
	for _, h := range page.Headings {
		c.Headings = append(c.Headings, office.Heading(h))
	}
	for _, l := range page.Links {
		if l.Kind == document.KindAnchor {
			c.Links = append(c.Links, office.Link{URL: l.URL, Text: l.Text})
		}
	}
	return c
}

// bare is the page of a body by its header fields alone.
func (p *parser) bare(b *body) *document.Page {
	bare := b.Input
	bare.Body = nil
	page := p.documents.Document(bare)
	page.MediaType, page.Unparsed, page.Charset = b.media, "", ""
	return page
}

// finish says why a page has no text, or only a part of it, and leaves out what a page that asks
// not to be indexed loses.
func (p *parser) finish(page *document.Page, outcome string) {
	switch {
	case outcome != "" && page.Text == "":
		page.Unparsed = outcome
	case outcome != "":
		page.Fallback = outcome
	}
	if page.Robots.NoIndex && p.follow.OmitNoIndex && page.Unparsed == "" {
		page.Unparsed, page.Text, page.TextTruncated, page.Headings, page.Description = document.NoIndex, "", false, nil, ""
	}
}
