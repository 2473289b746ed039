package document

import (
	"strings"
	"unicode/utf8"
)

// isForeign reports whether a token is processed by the rules for foreign content (WHATWG HTML
// 13.2.6, the tree construction dispatcher).
func (s *stream) isForeign() bool {
	if len(s.open) == 0 {
		return false
	}
	o := s.current()
	if o.space == inHTML {
		return false
	}
	if s.kind == endToken {
		return true
	}
	switch {
	case o.isTextPoint() && (s.kind == textToken || s.tag != mglyphElement && s.tag != malignmarkElement),
		o.space == inMathML && o.is(annotationXML) && s.kind == startToken && s.tag == svgElement,
		o.isHTMLPoint():
		return false
	}
	return true
}

// isTextPoint reports whether an element is a MathML text integration point.
func (o *openElement) isTextPoint() bool {
	return o.space == inMathML && o.traits&mathPoint != 0 && !o.is(annotationXML)
}

// isHTMLPoint reports whether an element is an HTML integration point.
func (o *openElement) isHTMLPoint() bool {
	return o.point || o.space == inSVG && o.traits&svgPoint != 0
}

// foreign takes a tag by the rules for foreign content (13.2.6.5), and reports whether it is used.
func (s *stream) foreign() bool {
	if s.kind == endToken {
		return s.endForeign()
	}
	if s.tag.traits&breaksOut != 0 ||
		s.tag == fontElement && (has(s.attrs, "color") || has(s.attrs, "face") || has(s.attrs, "size")) {
		for o := s.current(); o.space != inHTML && !o.isTextPoint() && !o.isHTMLPoint(); o = s.current() {
			s.pop()
		}
		return s.start()
	}
	s.insertForeign(s.current().space)
	return true
}

// insertForeign inserts a foreign element for the tag.
func (s *stream) insertForeign(space namespace) {
	if s.ambiguous {
		s.giveUp("a tag of a foreign element that may be self-closing")
		return
	}
	for i := range s.attrs { // adjust foreign attributes (13.2.6.1)
		if name, ok := strings.CutPrefix(s.attrs[i].Key, "xml:"); ok {
			s.attrs[i].Namespace, s.attrs[i].Key = "xml", name
		}
	}
	s.insert(s.tag, space, s.attrs)
	if s.needsTree != "" {
		return
	}
	if s.selfClosing {
		s.pop()
		return
	}
	if s.tag == annotationXML && space == inMathML {
		encoding := attribute(s.attrs, "encoding")
		s.current().point = strings.EqualFold(encoding, "text/html") || strings.EqualFold(encoding, mediaXHTML)
	}
}

// endForeign ends the foreign element of that name, or else takes the end tag by the rules of
// the insertion mode.
func (s *stream) endForeign() bool {
	name := s.name()
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			s.giveUp("the name of a foreign element")
			return true
		}
	}
	for i := len(s.open) - 1; i > 0; i-- {
		if equalFoldASCII(s.src[s.open[i].nameFrom:s.open[i].nameTo], name) {
			s.popTo(i)
			return true
		}
		if s.open[i-1].space == inHTML {
			break
		}
	}
	return s.end()
}
