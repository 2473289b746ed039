package parse

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// collector gathers a Page from a document's elements in document order. It is
// told of starts, ends and text, by the tree or by the tokenizer, and holds
// everything that both need to know; missing and surplus ends do no harm.
type collector struct {
	opts *Options
	page *Page
	self string

	prose prose
	// pre counts open preformatted elements; fresh is set right after such a
	// start, where one newline is not text. The tree does without.
	pre   int
	fresh bool

	title   prose
	inTitle bool

	links outlinks
	// anchor is the text of the open a element; link is its number, -1 when
	// none is open.
	anchor prose
	link   int
	// label is the text of a link that is not an a element.
	label prose

	// heading is the text of the open heading; level is 0 when none is open.
	heading prose
	level   int

	// foreign counts open svg and math elements; muted: one is open whose text no
	// reader sees.
	foreign int
	muted   bool

	// hasBase: a base element with href was there; elsewhere: it names another
	// page. References before it that are empty or a fragment count as the page's
	// own all the same.
	hasBase, elsewhere bool
	// canonicals are further canonical URLs beside the page's.
	canonicals []string

	// noscripted: the next text is the contents of a noscript element; inNoscript: they
	// are being read.
	noscripted, inNoscript bool

	// data is the text of an open script with data; dataRoom bytes are left for
	// it, dataOver says that they are not enough.
	data             []byte
	dataRoom         int
	inData, dataOver bool
}

// keptBuffer bounds the buffers that wait in the pool.
const keptBuffer = 256 << 10

func newCollector(opts *Options) *collector {
	c := &collector{opts: opts}
	c.links = newOutlinks(opts)
	c.prose.limit = opts.MaxTextBytes
	c.title = prose{limit: opts.MaxFieldBytes, oneLine: true}
	c.heading = prose{limit: opts.MaxFieldBytes, oneLine: true}
	c.anchor = prose{limit: opts.MaxAnchorBytes, oneLine: true}
	c.label = c.anchor
	return c
}

// begin readies c for the page with the canonical URL self.
func (c *collector) begin(page *Page, self string) {
	c.page, c.self = page, self
	c.prose.reset()
	c.title.reset()
	c.anchor.reset()
	c.heading.reset()
	c.pre, c.fresh, c.inTitle, c.foreign, c.muted = 0, false, false, 0, false
	c.link, c.level = -1, 0
	c.hasBase, c.elsewhere, c.canonicals = false, false, nil
	c.data, c.dataRoom, c.inData, c.dataOver = c.data[:0], c.opts.MaxDataBytes, false, false
	c.noscripted = false
}

// finish completes the page and lets go of it.
func (c *collector) finish() {
	c.endAnchor()
	c.endHeading()
	c.endTitle()
	c.endScript()
	c.settleCanonical()
	c.page.TextTruncated = c.prose.full
	c.page.Text = c.prose.String()
	c.page.Links = c.links.links()
	c.links.reset()
	c.page, c.self = nil, ""
	if cap(c.prose.buf) > keptBuffer {
		c.prose.buf = nil
	}
	if cap(c.data) > keptBuffer {
		c.data = nil
	}
	if cap(c.links.texts) > keptBuffer {
		c.links.texts = nil
	}
}

// open takes the start of an element and reports whether its contents count.
func (c *collector) open(name atom.Atom, role role, attrs []html.Attribute) bool {
	switch role {
	case plainRole:
		// Inside SVG these are tool tips.
		return c.foreign == 0 || name != atom.Desc
	case blockRole, breakRole:
		c.line()
	case formRole:
		c.line()
		c.reference(name, role, attrs)
	case cellRole:
		c.space()
	case imageRole:
		c.space()
		c.reference(name, role, attrs)
	case preRole:
		c.line()
		c.pre++
	case headingRole:
		c.line()
		c.endHeading()
		c.level = headingLevel(name)
	case titleRole:
		if c.foreign > 0 {
			return false
		}
		c.inTitle = true
	case skippedRole:
		return name == atom.Template && c.foreign == 0 && isShadowRoot(attrs)
	case scriptRole:
		return c.script(attrs)
	case noscriptRole:
		c.noscripted = c.foreign == 0
		return c.noscripted
	case frameRole:
		c.frame(name, attrs)
		return false
	case rootRole:
		c.root(attrs)
	case foreignRole:
		c.foreign++
	default:
		c.reference(name, role, attrs)
	}
	return true
}

// reference takes the start of an element that may name a URL, but not of one whose
// contents depend on that.
func (c *collector) reference(name atom.Atom, role role, attrs []html.Attribute) {
	switch role {
	case formRole:
		c.form(attrs)
	case imageRole:
		c.image(name, attrs)
	case inputRole:
		if strings.EqualFold(attribute(attrs, "type"), "image") {
			c.image(name, attrs)
		}
	case mediaRole:
		c.media(name, attrs)
	case anchorRole:
		c.startAnchor(attrs)
	case areaRole:
		c.area(attrs)
	case linkRole:
		c.linkElement(attrs)
	case metaRole:
		c.meta(attrs)
	case baseRole:
		c.base(attrs)
	}
}

// isShadowRoot reports whether a template is shown, as what its parent is made of
// (WHATWG HTML, the "in head" insertion mode: declarative shadow roots). That some
// elements have none, and that slots may change the order, is left aside.
func isShadowRoot(template []html.Attribute) bool {
	mode := attribute(template, "shadowrootmode")
	return strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")
}

// close takes the end of an element.
func (c *collector) close(role role) {
	switch role {
	case blockRole, formRole:
		c.line()
	case cellRole:
		c.space()
	case scriptRole:
		c.endScript()
	case noscriptRole:
		c.noscripted = false
	case preRole:
		if c.pre > 0 {
			c.pre--
			c.prose.trim()
		}
		c.line()
	case headingRole:
		c.endHeading()
		c.line()
	case titleRole:
		c.endTitle()
	case anchorRole:
		c.endAnchor()
	case foreignRole:
		c.foreign = max(c.foreign-1, 0)
	}
}

// text takes characters, entities decoded.
func (c *collector) text(s string) {
	switch {
	case c.noscripted:
		c.noscript(s)
		return
	case c.inTitle:
		c.title.fold(s)
		return
	case c.inData:
		c.dataText(s)
		return
	case c.muted:
		// What cannot be seen can still name a link, as in a closed menu.
		if c.link >= 0 {
			c.anchor.fold(s)
		}
		return
	}
	if c.pre > 0 {
		if c.fresh && s != "" && s[0] == '\n' {
			s = s[1:]
		}
		c.prose.verbatim(s)
	} else {
		c.prose.fold(s)
	}
	c.fresh = false
	if c.link >= 0 {
		c.anchor.fold(s)
	}
	if c.level > 0 {
		c.heading.fold(s)
	}
}

func (c *collector) line() {
	c.prose.line()
	c.anchor.space()
	c.heading.space()
}

func (c *collector) space() {
	c.prose.space()
	c.anchor.space()
	c.heading.space()
}

func (c *collector) endTitle() {
	// The first title that says something is the document's.
	if c.inTitle && c.page.Title == "" {
		c.page.Title = c.title.String()
	}
	c.title.reset()
	c.inTitle = false
}

func (c *collector) endHeading() {
	if c.level > 0 && len(c.heading.buf) > 0 && len(c.page.Headings) < c.opts.MaxHeadings {
		c.page.Headings = append(c.page.Headings, Heading{Level: c.level, Text: c.heading.String()})
	}
	c.heading.reset()
	c.level = 0
}
