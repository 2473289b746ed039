package document

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// collector makes a Page of a document's elements in document order. The stream, the tree or
// the tokenizer tells it of starts, ends and text. It has all the state that these need.
// Missing and surplus ends do no harm.
type collector struct {
	opts *Options

	prose, title prose
	links        outlinks
	// anchor is the text of the open a element, heading is the text of the open heading, and
	// label is the text of a link that is not an a element.
	anchor, heading, label prose
	figures                figures
	// data is the text of an open script with data.
	data []byte

	streaming stream
	// needsTree says why the document needed a tree; empty: it did not.
	needsTree string
	// cost is what the stream has seen of the cost of a tree.
	cost cheap
	// treesOnly: no document is streamed.
	treesOnly bool

	pageState
}

// pageState is the part of a collector that begins anew with each page.
type pageState struct {
	page *Page
	self string

	// pre counts open preformatted elements. fresh is set right after the start of one,
	// where one newline is not text; the tree parser drops that newline itself.
	pre     int
	fresh   bool
	inTitle bool
	// link is the number of the open a element, -1 when none is open. level is the level of the
	// open heading, 0 if no heading is open.
	link, level int
	// foreign counts open svg and math elements. muted: an element is open whose text readers
	// do not see.
	foreign int
	muted   bool

	// hasBase: there was a base element with href. elsewhere: it names another page. Empty
	// references and fragments before it still count as the page's own.
	hasBase, elsewhere bool
	// canonicals are further canonical URLs beside the page's.
	canonicals []string

	// noscripted: the next text is the contents of a noscript or noframes element. inNoscript: these
	// contents are being read.
	noscripted, inNoscript bool

	// dataRoom bytes are left for scripts with data. dataOver: they are not enough.
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
	c.label, c.figures.text = c.anchor, c.anchor
	return c
}

func (c *collector) begin(page *Page, self string) {
	c.pageState = pageState{page: page, self: self, link: -1, dataRoom: c.opts.MaxDataBytes}
	for _, text := range []*prose{&c.prose, &c.title, &c.anchor, &c.heading} {
		text.reset()
	}
	c.data = c.data[:0]
	c.figures.begin()
}

func (c *collector) finish() {
	c.endAnchor()
	c.endHeading()
	c.endTitle()
	c.endScript()
	for len(c.figures.open) > 0 {
		c.endFigure()
	}
	c.settleCanonical()
	c.page.TextTruncated = c.prose.full
	c.page.Text = c.prose.String()
	c.page.Links = c.links.links()
	c.links.reset()
	c.pageState = pageState{}
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
	if c.inNoscript {
		return c.openInNoscript(name, role, attrs)
	}
	if !c.page.Annotated && len(attrs) > 0 {
		c.page.Annotated = annotates(name, attrs)
	}
	switch role {
	case plainRole:
		// Inside SVG these are tool tips.
		return c.foreign == 0 || name != atom.Desc
	case blockRole, breakRole:
		c.line()
	case formRole:
		c.line()
		c.reference(name, role, attrs)
	case figureRole:
		c.line()
		c.startFigure()
	case captionRole:
		c.line()
		c.startCaption()
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
		c.level = int(name.String()[1] - '0') // h1 to h6
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

// isShadowRoot reports whether a template is shown as the contents of its parent (WHATWG
// HTML, the "in head" insertion mode: declarative shadow roots). It ignores that some
// elements cannot have a shadow root, and that slots may change the order.
func isShadowRoot(template []html.Attribute) bool {
	mode := attribute(template, "shadowrootmode")
	return strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")
}

// close takes the end of an element. In a noscript element only the end of a link counts.
func (c *collector) close(role role) {
	if c.inNoscript && role != anchorRole {
		return
	}
	switch role {
	case blockRole, formRole:
		c.line()
	case figureRole:
		c.endFigure()
		c.line()
	case captionRole:
		c.endCaption()
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

func (c *collector) text(s string) {
	switch {
	case c.noscripted && !c.inNoscript:
		c.noscript(s)
		return
	case c.inTitle:
		c.title.fold(s)
		return
	case c.inData:
		c.dataText(s)
		return
	case c.muted, c.inNoscript:
		// Hidden text can still be the text of a link, such as in a closed menu.
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
	if c.figures.within > 0 {
		c.figures.text.fold(s)
	}
}

func (c *collector) line() {
	c.prose.line()
	c.anchor.space()
	c.heading.space()
	c.figures.text.space()
}

func (c *collector) space() {
	c.prose.space()
	c.anchor.space()
	c.heading.space()
	c.figures.text.space()
}

func (c *collector) endTitle() {
	// The first title that is not empty is the document's.
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

// noscript lists what a noscript element names. A browser that runs scripts takes its
// contents for text up to the first end tag. noscript does the same, so that the element ends
// where readers of the page see it end, in a table and in the head, too. Within it, elements
// mean what they mean to a browser that runs no scripts (WHATWG HTML, the noscript element).
// A noframes element is read alike: the crawler shows no frames, either.
// It leaves out scripts, templates, the contents of frames, and all text except the text of
// links.
func (c *collector) noscript(contents string) {
	anchor, link, muted := c.anchor, c.link, c.muted
	c.anchor, c.link = prose{limit: c.opts.MaxAnchorBytes, oneLine: true}, -1
	c.inNoscript = true
	c.tokens(strings.NewReader(contents))
	c.endAnchor()
	c.anchor, c.link, c.muted = anchor, link, muted
	c.inNoscript, c.fresh = false, false
}

// openInNoscript is open for the elements in a noscript element.
func (c *collector) openInNoscript(name atom.Atom, role role, attrs []html.Attribute) bool {
	switch role {
	case blockRole, figureRole, captionRole, cellRole, breakRole, headingRole, preRole:
		c.anchor.space()
	case skippedRole, scriptRole:
		return false
	case frameRole:
		c.frame(name, attrs)
		return false
	default:
		c.reference(name, role, attrs)
	}
	return true
}
