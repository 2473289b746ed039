package parse

import (
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
)

// fileBounds are the bounds of a document for a file.
func fileBounds(o document.Options) extract.Bounds {
	return extract.Bounds{
		MaxTextBytes: o.MaxTextBytes, MaxLinks: o.MaxLinks, MaxHrefBytes: o.MaxHrefBytes, MaxAnchorBytes: o.MaxAnchorBytes,
		MaxHeadings: o.MaxHeadings, MaxFieldBytes: o.MaxFieldBytes,
	}
}

// filePage is the page that a file makes.
func (p *parser) filePage(b *body, read *extract.Document) *document.Page {
	page := p.bare(b)
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
	switch {
	case read.Outcome == extract.Whole:
	case page.Text == "":
		page.Unparsed = string(read.Outcome)
	default:
		page.Fallback = string(read.Outcome)
	}
	p.documents.Leave(page)
	return page
}

// bare is the page of a body with only the facts from its header fields.
func (p *parser) bare(b *body) *document.Page {
	bare := b.Input
	bare.Body = nil
	page := p.documents.Document(bare)
	page.MediaType, page.Unparsed, page.Charset = b.media, "", ""
	return page
}
