package parse

import (
	"context"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/plain"
)

// handler reads the bodies of one format. To add a format, write a file with its handler, and add
// the handler to handlers.
type handler struct {
	// name is for people.
	name string
	// takes tells whether it reads a body.
	takes func(b *body) bool
	// page makes the page record of a body. If it is nil, names is used; without names, package
	// document makes the page.
	page func(p *parser, b *body) *document.Page
	// names returns what a body names, for formats that do not make a page. If the URL was asked
	// for as a page, or if the body is not of the format, ok is false, and the next handler is
	// asked for a page.
	names func(p *parser, b *body) (named []*weftpb.Discovered, ok bool)
}

// handlers are all formats. The first one that takes a body reads it; the last one takes
// every body.
//
//	format    media types                                    page, text and links by
//	sitemap   all that a robots.txt, an index or a user      sitemap.go: entries, and no page
//	          calls one; XML that begins like one            sitemap.go: entries, beside the page
//	document  text/html, application/xhtml+xml               package document
//	feed      RSS, Atom, JSON Feed; XML, JSON and bytes      feed.go, package feed
//	          that begin so
//	office    Word, Excel, PowerPoint, OpenDocument, EPUB, RTF;  files.go, package office
//	          other types of applications if the bytes are one of these
//	pdf       application/pdf, and bytes that begin so       files.go, package pdf, in a lane beside the loop
//	plain     text/plain, Markdown, JSON, JSON lines, CSV,   plain.go, package plain
//	          source code; by type or, of text/plain, name
//	image     image/*, and bytes that begin so               image.go, package image
//	others    a page that says unsupported_type              package document
var handlers = []handler{sitemapHandler, documentHandler, feedHandler, officeHandler, pdfHandler, plainHandler, imageHandler, otherHandler}

// body is one response on its way through the handlers.
type body struct {
	document.Input
	// media is the media type, stated or sniffed, without parameters.
	media string
	f     *weftpb.Fetched
	// feed is what a feed says besides its page.
	feed *codecs.ParsedFeed
	// plain is the format of a text, language is the programming language of source code, and
	// structure is what the text says besides its page.
	plain     plain.Format
	language  string
	structure *codecs.ParsedStructure
	image     *codecs.ParsedImage // what an image says besides its page
	// ctx bounds slow readers. err says why the body could not be read, if the body is not the
	// cause.
	ctx context.Context
	err error
}

// target has what the crawl knew about the URL when it made the request.
func (b *body) target() *weftpb.Target { return b.f.GetRequest().GetTarget() }

var documentHandler = handler{
	name:  "document",
	takes: func(b *body) bool { return mediatype.IsHTML(b.media) },
}

var otherHandler = handler{name: "other", takes: func(*body) bool { return true }}
