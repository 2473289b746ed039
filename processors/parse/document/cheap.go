package document

import (
	"bytes"
	"strings"
)

// cheap shows, on the way of a stream, that a document is not costly. It is a bound for what survey
// finds without simple: it counts equal start tags each time, where survey counts three. survey
// also looks at each "<" that is not the beginning of a token: in comments, scripts and values.
// cheap looks at those in comments and in the text of elements, and is unsure where formatting
// elements are in them, or where there are others.
type cheap struct {
	seen     int // how many "<" there were
	bytes    int // of all formatting elements
	reopened int // as in surveyed
	roots    int // as in surveyed
	unsure   bool
}

// next takes the "<" of a token, or one in text.
func (c *cheap) next() {
	c.seen++
	c.reopened += c.bytes
}

// start takes a start tag.
func (c *cheap) start(e *element, name string, attributes int) {
	switch e.start {
	case startFormatting, startAnchor, startNobr:
		c.bytes += elementBytes + attributes*attributeBytes
	case startIgnored, startHTML, startOther:
		if tagKinds[name[0]|0x20]&maybeRoot != 0 && startsRoot([]byte(name)) {
			c.roots++
		}
	}
}

// within takes text in which a "<" is not the beginning of a token.
func (c *cheap) within(text string) {
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 || i+1 == len(text) {
			// The text may end between "<" and the name behind it, which is then seen as a token.
			c.unsure = c.unsure || i >= 0
			return
		}
		text = text[i+1:]
		c.next()
		kind := tagKinds[text[0]|0x20]
		name := text[:min(len(text), longestName+1)]
		if kind&maybeFormatting != 0 && isFormatting(shortName([]byte(name))) || kind&maybeRoot != 0 {
			c.unsure = true
		}
	}
}

// is reports whether costly is surely false for the document that was read.
func (c *cheap) is(body []byte) bool {
	return !c.unsure && c.reopened <= maxReopened && (len(body) <= alwaysCheap || c.roots <= maxRoots) &&
		c.seen == bytes.Count(body, []byte("<"))
}
