package parse

import (
	"bytes"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/office"
	"github.com/weftcrawl/weft/processors/parse/pdf"
)

// Files of office programs and PDF are read by packages of their own, into an extract.Document.

// officeHandler reads files of office programs. If the media type names such a format, and the body
// may be such a file, this handler reads it. The body tells the kind. Servers that do not know
// these formats call them archives or bytes, and programs call them what they want: a download, or the format of
// before 2007 with the same use.
var officeHandler = handler{
	name: "office",
	takes: func(b *body) bool {
		switch {
		case mediatype.IsOffice(b.media):
			return office.IsContainer(b.Body)
		case b.media == "application/pdf", b.media == "application/x-pdf":
			return false
		case strings.HasPrefix(b.media, "application/"), b.media == "binary/octet-stream", b.media == "text/plain":
			return office.Looks(b.Body) != office.None
		}
		return false
	},
	page: (*parser).office,
}

func (p *parser) office(b *body) *document.Page {
	read := office.Read(b.Body, office.Options{Bounds: fileBounds(p.follow), MaxUnpackedBytes: office.MaxUnpackedBytes, Chapter: p.chapter})
	if read.Kind == office.None && read.Outcome == extract.Whole && !read.Foreign {
		read.Outcome = extract.Damaged // its media type says that it is one
	}
	page := p.filePage(b, &read.Document)
	if read.Foreign && page.Unparsed == "" {
		page.Unparsed = document.UnsupportedType
	}
	return page
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

// pdfHandler reads PDF.
var pdfHandler = handler{
	name: "pdf",
	takes: func(b *body) bool {
		switch b.media {
		case "application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream":
			return pdf.Looks(b.Body)
		}
		return strings.HasPrefix(b.media, "application/") && !mediatype.IsOffice(b.media) && bytes.HasPrefix(b.Body, []byte(pdf.Magic))
	},
	page: (*parser).pdf,
}

// isSlow tells whether a record of fetched is read in a lane beside the loop: its body is a PDF, or
// its body is elsewhere and its media type is a PDF.
func isSlow(r *kgo.Record) bool {
	if front, body := codecs.CutFetched(r.Value); !pdf.Looks(body) && !bytes.Contains(front, []byte("application/pdf")) {
		return false // all but a few
	}
	var f weftpb.Fetched
	if codecs.UnmarshalFetched(r.Value, &f) != nil || f.Robots != nil {
		return false // a check, or a robots.txt, is not a page
	}
	b := body{Input: input(&f), f: &f}
	b.media = document.MediaType(b.Input)
	return b.media == "application/pdf" || pdfHandler.takes(&b)
}

// pdfOptions are the bounds of a PDF and of reading it.
func pdfOptions(o document.Options) pdf.Options {
	return pdf.Options{Bounds: fileBounds(o), MaxPages: pdf.MaxPages, MaxTime: pdf.MaxTime, MaxMemory: pdf.MaxMemory}
}

func (p *parser) pdf(b *body) *document.Page {
	var read *extract.Document
	if read, b.err = p.pdfs.Read(b.ctx, b.Body); b.err != nil {
		return p.bare(b)
	}
	return p.filePage(b, read)
}

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
