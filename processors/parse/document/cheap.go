package document

import "bytes"

// cheap shows, on the way of a stream, that a document is not costly. It is a bound for what survey
// finds without simple. survey also looks at each "<" that is not the beginning of a token: in
// comments, scripts and values. cheap looks at those in comments and in the text of elements, where it
// counts equal start tags each time and survey counts three, and is unsure if there are others.
type cheap struct {
	seen     int // how many "<" there were
	open     formatting
	reopened int // as in surveyed
	roots    int // as in surveyed
	unsure   bool
}

// next takes the "<" of a token, or one in text.
func (c *cheap) next() {
	c.seen++
	c.reopened += c.open.bytes
}

// start takes a start tag, at the beginning of text without its "<".
func (c *cheap) start(e *element, name string, attributes int, text []byte) {
	switch e.start {
	case startAnchor:
		c.open.bytes += elementBytes + attributes*attributeBytes
	case startFormatting, startNobr:
		if c.reopened > maxReopened || c.open.again(text) {
			return
		}
		tag := scanner{rest: text[len(name):]}
		size := elementBytes + tag.attributes()*attributeBytes
		c.open.add(text[:len(name)], text[:len(text)-len(tag.rest)], size)
	case startIgnored, startHTML, startOther:
		if tagKinds[name[0]|0x20]&maybeRoot != 0 && startsRoot([]byte(name)) {
			c.roots++
		}
	}
}

// within takes text in which a "<" is not the beginning of a token.
func (c *cheap) within(text []byte) {
	for !c.unsure {
		i := bytes.IndexByte(text, '<')
		if i < 0 || i+1 == len(text) {
			// The text may end between "<" and the name behind it, which is then seen as a token.
			c.unsure = c.unsure || i >= 0
			return
		}
		text = text[i+1:]
		c.next()
		if kind := tagKinds[text[0]|0x20]; kind != 0 {
			c.hidden(text[:min(len(text), longestHidden)], kind)
		}
	}
}

// longestHidden bounds the tags in comments and scripts that are looked at.
const longestHidden = 512

// hidden takes what may be the start tag of a formatting or root element, without its "<", in text.
func (c *cheap) hidden(text []byte, kind uint8) {
	if kind&maybeRoot != 0 && startsRoot(text) {
		c.roots++
	}
	name := shortName(text)
	if !isFormatting(name) {
		return
	}
	tag := scanner{rest: text[len(name):]}
	attributes := tag.attributes()
	if len(tag.rest) == 0 || bytes.IndexByte(text[:len(text)-len(tag.rest)], '<') >= 0 {
		c.unsure = true // it ends elsewhere, or has another tag in it
		return
	}
	c.open.bytes += elementBytes + attributes*attributeBytes
}

// is reports whether costly is surely false for the document that was read.
func (c *cheap) is(body []byte) bool {
	return !c.unsure && c.reopened <= maxReopened && (len(body) <= alwaysCheap || c.roots <= maxRoots) &&
		c.seen == bytes.Count(body, []byte("<"))
}
