package parse

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokens feeds the collector from the token stream: no stack of elements but in
// what is muted, no adoption, memory for the largest token only.
func (c *collector) tokens(body []byte) {
	z := html.NewTokenizer(bytes.NewReader(body))
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
			if c.foreign > 0 {
				// There, style and title have children like any other.
				z.NextIsNotRawText()
			}
			if skip.active() {
				if !selfClosing {
					skip.start(name)
				}
				continue
			}
			attrs = appendAttributes(attrs[:0], z, more, role.readsAttributes() || name == atom.Template)
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
			if role == breakRole {
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

// skipper passes over the contents of an element, which may hold others of its
// own name.
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
	case blockRole, headingRole, preRole, breakRole, imageRole, metaRole:
		return true
	}
	return false
}

// maxAttributes bounds the attributes of a tag that are looked at.
const maxAttributes = 256

// appendAttributes appends the attributes of the tag that z is at: all, or only
// those that may mute it. Of tags without any of these none is decoded.
func appendAttributes(attrs []html.Attribute, z *html.Tokenizer, more, all bool) []html.Attribute {
	if !all && (!more || !speaksOfMuting(z.Raw())) {
		return attrs
	}
	for more && len(attrs) < maxAttributes {
		var key, value []byte
		key, value, more = z.TagAttr()
		attrs = append(attrs, html.Attribute{Key: string(key), Val: string(value)})
	}
	return attrs
}

// mutingAttributes are those that mutes looks for.
var mutingAttributes = [...]string{"hidden", "open", "popover"}

// speaksOfMuting reports whether a tag may have one of them.
func speaksOfMuting(tag []byte) bool {
	for i, c := range tag {
		for _, name := range mutingAttributes {
			if c|0x20 == name[0] && len(tag)-i >= len(name) && strings.EqualFold(string(tag[i:i+len(name)]), name) {
				return true
			}
		}
	}
	return false
}
