package document

import (
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokens gives the elements of the token stream to the collector. It needs memory for the
// largest token only: elements are not moved, and only muted ones have a stack.
func (c *collector) tokens(markup io.Reader) {
	z := html.NewTokenizer(markup)
	var skip skipper
	var mute muter
	var attrs []html.Attribute
	for {
		// Outside foreign content a CDATA section is a comment.
		z.AllowCDATA(c.foreign > 0)
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return

		case html.TextToken:
			if !skip.active() {
				c.text(string(z.Text()))
			}

		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			name := atom.Lookup(tag)
			role := roleOf(name)
			if c.foreign > 0 && endsForeign(role) {
				c.foreign = 0
			}
			selfClosing := kind == html.SelfClosingTagToken && (c.foreign > 0 || role == foreignRole)
			if c.foreign > 0 || c.inNoscript && role == noscriptRole {
				// There, style, title, noscript and noframes have children like any other.
				z.NextIsNotRawText()
			}
			if skip.active() {
				if !selfClosing {
					skip.start(name)
				}
				continue
			}
			attrs = appendAttributes(attrs[:0], z, more)
			mute.implied(name, role)
			c.muted = mute.active()
			inside := c.open(name, role, attrs)
			c.fresh = name == atom.Pre || name == atom.Listing
			if inside && !selfClosing && (mute.active() || c.mutes(name, attrs)) && !isVoid(string(tag)) {
				mute.start(name, tag)
				c.muted = true
			}
			switch {
			case selfClosing:
				c.close(role)
			case !inside && name != atom.Frame:
				skip.start(name)
			}

		case html.EndTagToken:
			tag, _ := z.TagName()
			name := atom.Lookup(tag)
			role := roleOf(name)
			if skip.active() {
				skip.end(name)
				continue
			}
			if role == breakRole && !c.inNoscript {
				// "</br>" is read as "<br>".
				c.open(name, role, nil)
				continue
			}
			mute.end(tag)
			c.muted = mute.active()
			c.close(role)
		}
	}
}

// skipper skips the contents of an element, which may have elements of the same name.
type skipper struct {
	name  atom.Atom
	depth int
}

func (s *skipper) active() bool { return s.depth > 0 }

func (s *skipper) start(name atom.Atom) {
	if s.depth == 0 {
		s.name = name
	}
	if name == s.name {
		s.depth++
	}
}

func (s *skipper) end(name atom.Atom) {
	if name == s.name {
		s.depth--
	}
}

// endsForeign reports whether the start of such an element ends foreign content
// around it (WHATWG HTML, the rules for parsing tokens in foreign content).
func endsForeign(r role) bool {
	switch r {
	case blockRole, figureRole, captionRole, headingRole, preRole, breakRole, imageRole, metaRole:
		return true
	}
	return false
}

// maxAttributes bounds the attributes of a tag that are looked at.
const maxAttributes = 256

// appendAttributes appends the attributes of the tag that z is at.
func appendAttributes(attrs []html.Attribute, z *html.Tokenizer, more bool) []html.Attribute {
	for more && len(attrs) < maxAttributes {
		var key, value []byte
		key, value, more = z.TagAttr()
		attrs = append(attrs, html.Attribute{Key: string(key), Val: string(value)})
	}
	return attrs
}
