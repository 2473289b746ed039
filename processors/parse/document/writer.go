package document

import (
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/mediatype"
)

// Writer fills in the Page of a body that something else reads. It keeps all bounds of Options, and
// judges links like the links of documents.
type Writer struct {
	c      *collector
	in     Input
	stated mediatype.Type
}

// Write returns the Page of a response that fill reads. What the header says counts as for any
// page. fill must not keep its Writer.
func (p *Parser) Write(in Input, fill func(Writer)) *Page {
	c := p.collectors.Get().(*collector)
	page := p.read(c, in, fill)
	p.collectors.Put(c)
	return page
}

// Page is the page that is being written. Text, Headings and Links are not in it yet.
func (w Writer) Page() *Page { return w.c.page }

// Decoded returns the body as UTF-8, and says in Page.Charset how it was read. Of a text that is
// longer than Page.Text may be it returns the beginning. isUTF8: the format says that it is UTF-8,
// and then a valid body is read as UTF-8, whatever else it could be.
func (w Writer) Decoded(isUTF8 bool) string {
	stated := w.stated
	if isUTF8 && utf8.Valid(w.in.Body) {
		stated.Charset, stated.HasCharset = "utf-8", true
	}
	return string(w.c.decoded(w.in, stated))
}

// Verbatim adds text, with its white space.
func (w Writer) Verbatim(text string) { w.c.prose.verbatim(text) }

// Block begins a line of its own.
func (w Writer) Block() { w.c.prose.line() }

// Fold adds text with its white space folded.
func (w Writer) Fold(text string) { w.c.prose.fold(text) }

// Heading lists a heading of level 1 to 6.
func (w Writer) Heading(level int, text string) {
	w.c.level = level
	w.c.heading.fold(text)
	w.c.endHeading()
}

// Link lists a reference, as the elements of a document do. Follow is set by Options.
func (w Writer) Link(link Link) {
	text := link.Text
	link.Text = ""
	w.c.addNamed(link, text)
}

// Field sets a field of the page, such as its title, unless it has a value.
func (w Writer) Field(field *string, value string) { w.c.field(field, value) }
