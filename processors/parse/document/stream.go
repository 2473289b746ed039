package document

import (
	"strings"
	"unsafe"

	"golang.org/x/net/html"
)

// stream gives the elements of a document to a collector in one pass over its bytes. It is the
// parser of the HTML standard without the tree. It has the stack of open elements, the list of
// active formatting elements and the insertion modes, and it tells the collector of each start,
// end and text at once. This works as long as every node is inserted behind all others. Where
// the standard inserts a node elsewhere, or moves or changes a node, stream gives up. Then a
// tree is made.
//
// The methods have the names of the steps in the standard. Where x/net/html differs from the
// standard, they follow x/net/html, because the trees of other documents are made by it.
type stream struct {
	c    *collector
	body []byte
	// src is body, without a copy: the parts of a string need none either, and the body of a page
	// was a third of all memory that parse took for it.
	src string
	pos int
	// returns: src has carriage returns.
	returns bool
	// needsTree says why the document needs a tree; empty: so far it does not.
	needsTree string

	token

	mode insertionMode
	// doctype is the first declaration of the document type.
	doctype string
	// quirksMode is 1 in quirks mode, -1 in other modes, and 0 as long as it is not needed.
	quirksMode int8
	open       []openElement
	// counts counts the open elements in HTML by their numbers.
	counts [256]uint16
	ids    uint32 // of the last element
	active []formattingElement
	form   uint32 // the form element pointer; 0: none
	// fostering: foster parenting is enabled.
	fostering bool
	// fresh: the current node is a pre or listing element without a child. A newline there is
	// not text.
	fresh bool
	// skipped is the number, from 1, of the open element whose contents do not count; 0: there is
	// no such element.
	skipped int

	cost     cheap
	again    []html.Attribute // of an element that is opened again
	reopened int              // bytes for such elements
}

// token is the tag that is being processed.
type token struct {
	kind tokenKind
	tag  *element
	at   int // where it begins
	// nameFrom and nameTo are where its name is written.
	nameFrom, nameTo int
	// attrs are the attributes that the collector or tree construction reads.
	attrs []html.Attribute
	tagEnd
}

type tokenKind uint8

const (
	startToken tokenKind = iota
	endToken
	textToken
)

// stream reads a document, and reports whether it could. If not, the collector must start again.
func (c *collector) stream(body []byte) bool {
	s := &c.streaming
	s.begin(c, body)
	if strings.IndexByte(s.src, 0) >= 0 {
		s.giveUp("NUL")
	}
	for s.needsTree == "" && s.next() {
	}
	if s.needsTree == "" {
		s.popTo(0)
	}
	c.needsTree, c.cost = s.needsTree, s.cost
	s.begin(nil, nil) // what the pool keeps must not keep the document
	return c.needsTree == ""
}

func (s *stream) begin(c *collector, body []byte) {
	src := unsafe.String(unsafe.SliceData(body), len(body))
	clear(s.attrs[:cap(s.attrs)])
	clear(s.again[:cap(s.again)])
	clear(s.cost.open.tags)
	*s = stream{
		c: c, body: body, src: src, returns: strings.IndexByte(src, '\r') >= 0,
		token: token{attrs: s.attrs[:0]}, open: s.open[:0], active: s.active[:0], again: s.again[:0],
		cost: cheap{open: formatting{tags: s.cost.open.tags[:0]}},
	}
}

// giveUp says that the document needs a tree.
func (s *stream) giveUp(why string) {
	if s.needsTree == "" {
		s.needsTree = why
	}
}

// next takes one token, and the text before it (WHATWG HTML 13.2.5, tokenization). It returns
// false at the end of the document.
func (s *stream) next() bool {
	from := s.pos
	for at := from; ; at++ {
		i := strings.IndexByte(s.src[at:], '<')
		if i >= 0 {
			s.cost.next()
		}
		if i < 0 || at+i+1 == len(s.src) {
			s.text(s.src[from:])
			return false
		}
		at += i
		switch c := s.src[at+1]; {
		case isLetter(c):
			s.text(s.src[from:at])
			return s.startTag(at)
		case c == '/':
			if at+2 == len(s.src) {
				s.text(s.src[from:])
				return false
			}
			s.text(s.src[from:at])
			return s.endTag(at)
		case c == '!':
			s.text(s.src[from:at])
			return s.declaration(at)
		case c == '?':
			s.text(s.src[from:at])
			return s.bogusComment(at + 1)
		}
	}
}

// startTag reads the start tag at a place. It returns false if the document ends inside the tag.
// Such a tag is not a token.
func (s *stream) startTag(at int) bool {
	s.at = at
	s.nameFrom, s.nameTo = at+1, s.nameEnd(at+1)
	s.tag = elementOf(s.name())
	s.kind = startToken
	current := inHTML
	if len(s.open) > 0 {
		current = s.current().space
	}
	var ok bool
	if s.attrs, s.tagEnd, ok = s.attributes(s.attrs[:0], s.nameTo, s.tag.traits&reads != 0 || current != inHTML); !ok {
		s.cost.unsure = true
		return false
	}
	s.pos = s.tagEnd.pos
	tag := s.tag
	s.cost.start(tag, s.name(), s.tagEnd.attributes, s.body[at+1:])
	s.process()
	if tag.traits&raw != 0 && s.needsTree == "" {
		switch o := s.current(); {
		case !o.is(tag):
			s.giveUp("a tag that is ignored, and its text is not")
		case o.space == inHTML:
			return s.rawText(tag)
		}
	}
	return s.needsTree == ""
}

// endTag reads the text at a place that begins with "</".
func (s *stream) endTag(at int) bool {
	switch c := s.src[at+2]; {
	case c == '>':
		s.comment()
		s.pos = at + 3
		return true
	case !isLetter(c):
		return s.bogusComment(at + 2)
	}
	s.at = at
	s.nameFrom, s.nameTo = at+2, s.nameEnd(at+2)
	s.tag = elementOf(s.name())
	s.kind = endToken
	if !s.skipTag(s.nameTo) {
		return false
	}
	s.process()
	return s.needsTree == ""
}

// name is the name of the tag as written.
func (s *stream) name() string { return s.src[s.nameFrom:s.nameTo] }

// process runs the tree construction dispatcher (13.2.6) until a rule has used the tag.
func (s *stream) process() {
	for used := false; !used && s.needsTree == ""; {
		switch {
		case s.isForeign():
			used = s.foreign()
		case s.kind == startToken:
			used = s.start()
		default:
			used = s.end()
		}
	}
}

// rawText reads the text of an element that has only text, and its end tag (13.2.6.2, the generic
// raw text element parsing algorithm).
func (s *stream) rawText(e *element) bool {
	from := s.pos
	end, ok := s.rawEnd(from, e)
	if !ok {
		s.giveUp("a script that seems to be in a script")
		return false
	}
	if end == len(s.src) && s.selfClosing {
		s.giveUp("an element without contents that would take the rest")
		return false
	}
	s.cost.within(s.body[from:end])
	if end > from && s.skipped == 0 {
		text := s.src[from:end]
		switch {
		case e.traits&rcdata != 0:
			s.emit(text)
		case s.returns:
			s.c.text(newlines(text))
		default:
			s.c.text(text)
		}
	}
	if end == len(s.src) {
		s.pos = end
		return false
	}
	s.cost.next()
	if !s.skipTag(end + len("</") + len(e.name)) {
		return false
	}
	s.pop()
	return s.needsTree == ""
}

// text reads the text between two other tokens.
func (s *stream) text(raw string) {
	if raw == "" || s.needsTree != "" {
		return
	}
	s.kind = textToken
	switch {
	case s.isForeign():
		s.fresh = false
		s.emit(raw)
	case s.mode == inBody:
		s.bodyText(raw)
	default:
		s.textInMode(raw)
	}
}

// bodyText inserts characters by the rules of the "in body" insertion mode (13.2.6.4.7).
func (s *stream) bodyText(raw string) {
	if s.fresh {
		if raw[0] == '&' {
			raw = strings.ReplaceAll(html.UnescapeString(newlines(raw)), "&", "&amp;")
		}
		if raw[0] == '\r' {
			raw = raw[1:]
		}
		if raw != "" && raw[0] == '\n' {
			raw = raw[1:]
		}
		if raw == "" {
			return
		}
	}
	if len(s.active) > 0 {
		s.reconstruct()
	}
	s.fresh = false
	if s.needsTree == "" {
		s.emit(raw)
	}
}

// emit gives text to the collector, with its character references decoded. The collector takes
// a carriage return for what it stands for.
func (s *stream) emit(raw string) {
	if s.skipped > 0 {
		return
	}
	for {
		i := strings.IndexByte(raw, '&')
		if i < 0 {
			break
		}
		decoded, n := characterReference(raw[i:], false)
		if n == 0 { // an ampersand that is text
			decoded, n = "&", 1
		}
		if i > 0 {
			s.c.text(raw[:i])
		}
		if s.c.pre > 0 && decoded[0] == '\r' {
			s.giveUp("a carriage return in preformatted text")
			return
		}
		s.c.text(decoded)
		raw = raw[i+n:]
	}
	if raw != "" {
		s.c.text(raw)
	}
}

// keeper copies the strings that a page keeps. The strings of a stream are parts of one copy of
// the body, which must not stay in memory with the page. Many strings share one allocation.
type keeper struct{ chunk strings.Builder }

// keptChunk is the size of an allocation. The links of most pages fit into one or two.
const keptChunk = 2 << 10

func (k *keeper) keep(s string) string {
	if k.chunk.Cap()-k.chunk.Len() < len(s) {
		k.chunk = strings.Builder{}
		k.chunk.Grow(max(len(s), keptChunk))
	}
	from := k.chunk.Len()
	k.chunk.WriteString(s)
	return k.chunk.String()[from:]
}

func (k *keeper) reset() { k.chunk.Reset() }
