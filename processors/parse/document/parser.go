package document

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/mediatype"
)

// Parser reads documents. It is safe for concurrent use and keeps nothing but
// buffers.
type Parser struct {
	opts       Options
	collectors sync.Pool
}

// New returns a Parser, or the error of opts.Validate.
func New(opts Options) (*Parser, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("new parser: %w", err)
	}
	p := &Parser{opts: opts}
	p.collectors.New = func() any { return newCollector(&p.opts) }
	return p, nil
}

// Document reads one response. It never fails: see Page.Unparsed and
// Page.Fallback.
func (p *Parser) Document(in Input) *Page {
	c := p.collectors.Get().(*collector)
	page := p.read(c, in, nil)
	p.collectors.Put(c)
	return page
}

// read reads one response, or has fill read it.
func (p *Parser) read(c *collector, in Input, fill func(Writer)) *Page {
	page := &Page{Robots: robotsOfTags(in.RobotsTags, p.opts.Agent)}
	stated := typeOf(in)
	page.MediaType = stated.Essence

	c.begin(page, in.URL)
	c.statements(in)
	c.header(in)
	switch kind := kindOfMedia(page.MediaType); {
	case fill != nil:
		fill(Writer{c: c, in: in, stated: stated})
	case kind == mediaHTML:
		c.html(in, stated)
	case kind == mediaPlain:
		c.prose.verbatim(string(c.decoded(in, stated)))
	default:
		page.Unparsed = UnsupportedType
	}
	c.finish()

	if page.Language == "" {
		page.Language = singleLanguage(in.ContentLanguage, p.opts.MaxFieldBytes)
	}
	p.Leave(page)
	return page
}

func (c *collector) html(in Input, stated mediatype.Type) {
	body, charset := markup(in, stated)
	c.page.Charset = charset
	if len(body) <= c.opts.MaxTreeBytes && !c.treesOnly {
		if c.stream(body) && (c.cost.is(body) || !costly(body)) {
			return
		}
		c.restart(in)
	}
	body = withEnds(body)
	if c.page.Fallback = c.structure(body); c.page.Fallback != "" {
		c.tokens(bytes.NewReader(body))
	}
}

// markup returns an HTML or XHTML document as HTML in UTF-8, and its encoding.
func markup(in Input, stated mediatype.Type) (body []byte, charset string) {
	body, charset = decode(in.Body, hintOf(in, stated))
	if stated.Essence == mediaXHTML {
		body = htmlOf(body)
	}
	return body, charset
}

// structure reads the elements of a document where the standard puts them, by the tree. If there
// may be none, it reads nothing and says why.
func (c *collector) structure(body []byte) (fallback string) {
	switch {
	case len(body) > c.opts.MaxTreeBytes:
		return TooLarge
	case costly(body):
		return TooCostly
	case !c.tree(body):
		return TooDeep
	}
	return ""
}

// restart forgets what was read of the body.
func (c *collector) restart(in Input) {
	*c.page = Page{MediaType: c.page.MediaType, Charset: c.page.Charset, Robots: robotsOfTags(in.RobotsTags, c.opts.Agent)}
	c.links.reset()
	c.begin(c.page, in.URL)
	c.statements(in)
	c.header(in)
}

// decoded returns the beginning of a body that is text, as UTF-8: one character more than fits
// into Page.Text, which is enough to know that it does not.
func (c *collector) decoded(in Input, stated mediatype.Type) []byte {
	hint := hintOf(in, stated)
	hint.plain = true
	body, charset := decode(in.Body, hint)
	c.page.Charset = charset
	return cutPartialRune(body[:min(len(body), c.opts.MaxTextBytes+utf8.UTFMax)])
}

// hintOf is what a response tells of its encoding besides its bytes.
func hintOf(in Input, stated mediatype.Type) hint {
	_, host, _ := strings.Cut(in.URL, "://")
	if end := strings.IndexAny(host, "/:?"); end >= 0 {
		host = host[:end]
	}
	return hint{
		label: stated.Charset, contentLanguage: in.ContentLanguage,
		domain: host[strings.LastIndexByte(host, '.')+1:], xml: stated.Essence == mediaXHTML, truncated: in.Truncated,
	}
}

type mediaKind int

const (
	mediaOther mediaKind = iota
	mediaHTML
	mediaPlain
)

// MediaType is the type by which Document reads a response: the one of its Content-Type,
// without parameters and in lower case, or else the sniffed one.
func MediaType(in Input) string { return typeOf(in).Essence }

// typeOf returns the Content-Type of a response, with the type/subtype by which to read the body.
// Without a usable one it sniffs (WHATWG MIME Sniffing, section 7: identifying a resource with an
// unknown MIME type). A type that is stated is believed, but for the type of any bytes: many servers
// send it for files whose names they do not know, such as a.xhtml, so HTML is looked for. Programs send tables and
// letters in HTML as files of Word and Excel, and as a download. XML whose root
// is html is XHTML, as in browsers. HTML may be a feed (section 7.3: mislabeled feeds) or a file, because programs
// that do not state a type send it. Plain text may be bytes (section 7.2: mislabeled binary), because servers send
// this type, too, for names that they do not know.
func typeOf(in Input) mediatype.Type {
	t := mediatype.Of(in.ContentType)
	switch t.Essence {
	case "", "unknown/unknown", "application/unknown":
		t.Essence = mediatype.Of(http.DetectContentType(in.Body)).Essence
	case "application/octet-stream", "binary/octet-stream", "application/msword", "application/vnd.ms-excel", "application/force-download":
		if looksLikeHTML(in.Body) {
			t.Essence = "text/html"
		}
	case "text/html":
		if t.Essence = feedOrHTML(in.Body); isFile(in.Body) {
			t.Essence = "application/octet-stream"
		}
	case "text/plain":
		if isDefault(t.Charset) && (isBinary(in.Body) || isPDF(in.Body)) {
			t.Essence = "application/octet-stream"
		}
	}
	if mayBeXHTML(t.Essence) && hasRootHTML(in.Body) {
		t.Essence = mediaXHTML
	}
	return t
}

// isDefault tells whether servers state a charset, or none, for files that they do not know.
func isDefault(charset string) bool {
	return charset == "" || strings.EqualFold(charset, "iso-8859-1") || strings.EqualFold(charset, "utf-8")
}

// resourceHeader is how many bytes of a body the standard looks at (section 5.2).
const resourceHeader = 1445

// isBinary tells whether a body is not text: by the standard, whether there is a control character within its
// first bytes. Weft wants one in fifty, and counts neither NUL, which UTF-16 has, nor those of old texts:
// backspace, and Ctrl-Z at the end. A byte order mark says that it is text.
func isBinary(body []byte) bool {
	for _, mark := range []string{"\xfe\xff", "\xff\xfe", "\ufeff"} {
		if bytes.HasPrefix(body, []byte(mark)) {
			return false
		}
	}
	body = body[:min(len(body), resourceHeader)]
	controls := 0
	for _, c := range body {
		if c >= 0x01 && c <= 0x07 || c == 0x0b || c >= 0x0e && c <= 0x19 || c >= 0x1c && c <= 0x1f {
			controls++
		}
	}
	return controls*50 > len(body)
}

// isFile tells whether a body begins as a file that is no text: PDF, a picture, an archive, an office file.
func isFile(body []byte) bool {
	for _, magic := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "PK\x03\x04", "\x1f\x8b\x08", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", `{\rtf1`} {
		if bytes.HasPrefix(body, []byte(magic)) {
			return true
		}
	}
	return bytes.HasPrefix(body, []byte("RIFF")) && bytes.HasPrefix(body[min(8, len(body)):], []byte("WEBP")) || isPDF(body)
}

// isPDF tells whether a body begins as a PDF and is no text about PDF: its first bytes have one beyond ASCII, as
// programs write it for this purpose (ISO 32000-1, section 7.5.2). Scripts write line ends in front.
func isPDF(body []byte) bool {
	begin := body[:min(len(body), resourceHeader)]
	return bytes.HasPrefix(bytes.TrimLeft(begin, " \t\r\n"), []byte("%PDF-")) &&
		bytes.ContainsFunc(begin, func(r rune) bool { return r >= utf8.RuneSelf })
}

// mayBeXHTML tells whether a type is of any XML, or of the XHTML of old phones (application/vnd.wap.xhtml+xml).
func mayBeXHTML(essence string) bool {
	return essence == "text/xml" || essence == "application/xml" || strings.HasSuffix(essence, ".xhtml+xml")
}

// looksLikeHTML tells whether a document begins as HTML does, or as XHTML does behind an XML
// declaration. A byte order mark does not count.
func looksLikeHTML(body []byte) bool {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	sniffed := mediatype.Of(http.DetectContentType(body)).Essence
	return sniffed == "text/html" || sniffed == "text/xml" && hasRootHTML(body)
}

// hasRootHTML tells whether the root of XML is html, by its name or its document type.
func hasRootHTML(body []byte) bool {
	rest := behindProlog(body)
	return hasPrefixFold(rest, "<!doctype html") || hasPrefixFold(rest, "<html")
}

// feedOrHTML returns the type of what is said to be HTML: that of a feed, if it begins with the root of one.
func feedOrHTML(body []byte) string {
	rest := behindProlog(body)
	for bytes.HasPrefix(rest, []byte("<!")) { // a document type
		_, rest, _ = bytes.Cut(rest, []byte(">"))
		rest = behindProlog(rest)
	}
	switch root := rest[:max(bytes.IndexAny(rest, "> \t\r\n"), 0)]; {
	case string(root) == "<rss":
		return "application/rss+xml"
	case string(root) == "<feed":
		return "application/atom+xml"
	case string(root) == "<rdf:RDF" && bytes.Contains(rest, []byte("http://purl.org/rss/1.0/")) &&
		bytes.Contains(rest, []byte("http://www.w3.org/1999/02/22-rdf-syntax-ns#")):
		return "application/rss+xml"
	}
	return "text/html"
}

// behindProlog returns the beginning of XML without a byte order mark, the XML declaration, processing
// instructions and comments in front.
func behindProlog(body []byte) []byte {
	rest := bytes.TrimPrefix(body[:min(len(body), sniffBytes)], []byte("\ufeff"))
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		var end string
		switch {
		case bytes.HasPrefix(rest, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(rest, []byte("<!--")):
			end = "-->"
		default:
			return rest
		}
		_, rest, _ = bytes.Cut(rest, []byte(end))
	}
}

func kindOfMedia(essence string) mediaKind {
	switch {
	case mediatype.IsHTML(essence):
		return mediaHTML
	case essence == "text/plain":
		return mediaPlain
	}
	return mediaOther
}
