package document

import (
	"strings"

	"golang.org/x/net/html"
)

// startInBody is for start tags in the body (WHATWG HTML 13.2.6.4.7), one rule of the standard after
// another. It reports whether the tag is used.
func (s *stream) startInBody() bool {
	tag := s.tag
	switch tag.start {
	case startOther, startVoid, startXmp:
		if tag.start == startXmp {
			s.closeP()
		}
		s.reconstruct()
		if tag.start == startVoid {
			s.insertVoid(tag)
		} else {
			s.insert(tag, inHTML, s.attrs)
		}
	case startFormatting:
		s.reconstruct()
		s.insertFormatting()
	case startAnchor:
		s.endAnchor()
		s.reconstruct()
		s.insertFormatting()
	case startNobr:
		s.reconstruct()
		if s.inScope(defaultScope, nobrElement) {
			s.adopt(nobrElement)
			s.reconstruct()
		}
		s.insertFormatting()
	case startBlock, startPre:
		s.closeP()
		s.insert(tag, inHTML, s.attrs)
	case startHeading:
		s.closeP()
		if s.current().traits&heading != 0 {
			s.pop()
		}
		s.insert(tag, inHTML, s.attrs)
	case startForm:
		if s.form != 0 {
			return true
		}
		s.closeP()
		s.insert(tag, inHTML, s.attrs)
		s.form = s.ids
	case startListItem, startDefinition:
		s.endItem()
		s.closeP()
		s.insert(tag, inHTML, s.attrs)
	case startMetadata, startTemplate:
		return s.insertInHead()
	case startRaw, startParam:
		if tag.start == startParam {
			s.insertVoid(tag)
		} else {
			s.insert(tag, inHTML, s.attrs)
		}
	case startHTML:
		return s.anotherRoot()
	case startFrameset:
		s.giveUp("frameset")
	case startPlaintext:
		s.giveUp("plaintext")
	case startTable:
		if s.inScope(buttonScope, pElement) && !s.quirks() {
			s.closeP()
		}
		s.insert(tag, inHTML, s.attrs)
		s.mode = inTable
	case startHr:
		if s.inScope(buttonScope, pElement) {
			s.generateImpliedEndTags(pElement)
			s.popUntil(defaultScope, pElement, 0)
		}
		if s.inScope(defaultScope, selectElement) {
			s.generateImpliedEndTags(nil)
		}
		s.insertVoid(tag)
	case startImage: // "Don't ask."
		s.tag = imgElement
		return false
	case startObject:
		s.reconstruct()
		s.insert(tag, inHTML, s.attrs)
		s.insertMarker()
	case startForeign:
		s.reconstruct()
		space := inSVG
		if tag == mathElement {
			space = inMathML
		}
		s.insertForeign(space)
	case startIgnored:
		if tag == bodyElement && annotates(0, s.attrs) { // it adds attributes to the body
			s.giveUp("attributes of a further body tag")
		}
	default:
		s.startControl()
	}
	return true
}

// startControl is for the start tags of elements in forms and in ruby.
func (s *stream) startControl() {
	inSelect := s.inScope(defaultScope, selectElement)
	switch s.tag.start {
	case startButton:
		if s.inScope(defaultScope, buttonElement) {
			s.generateImpliedEndTags(nil)
			s.popUntil(defaultScope, buttonElement, 0)
		}
		s.reconstruct()
	case startInput:
		s.popUntil(defaultScope, selectElement, 0)
		s.reconstruct()
		s.insertVoid(s.tag)
		return
	case startSelect:
		if s.popUntil(defaultScope, selectElement, 0) {
			return
		}
		s.reconstruct()
	case startOption:
		if inSelect {
			s.generateImpliedEndTags(optgroupElement)
		} else if s.current().is(optionElement) {
			s.pop()
		}
		s.reconstruct()
	case startOptgroup:
		if inSelect {
			s.generateImpliedEndTags(nil)
		} else if s.current().is(optionElement) {
			s.pop()
		}
		s.reconstruct()
	case startRubyBase:
		if s.inScope(defaultScope, rubyElement) {
			s.generateImpliedEndTags(nil)
		}
	case startRubyText:
		if s.inScope(defaultScope, rubyElement) {
			s.generateImpliedEndTags(rtcElement)
		}
	}
	s.insert(s.tag, inHTML, s.attrs)
}

// endItem ends the item before another: li before li, dd or dt before one of these.
func (s *stream) endItem() {
	for i := len(s.open) - 1; i >= 0; i-- {
		switch o := &s.open[i]; {
		case o.start == s.tag.start:
			s.popTo(i)
			return
		case o.is(addressElement), o.is(divElement), o.is(pElement):
		case o.isSpecial():
			return
		}
	}
}

// endInBody is for end tags in the body. It reports whether the tag is used.
func (s *stream) endInBody() bool {
	switch tag := s.tag; tag.end {
	case endBlock:
		if s.inScope(defaultScope, tag) {
			s.generateImpliedEndTags(nil)
			s.popUntil(defaultScope, tag, 0)
		}
	case endP:
		if !s.inScope(buttonScope, pElement) {
			s.impliedP()
		}
		s.popUntil(buttonScope, pElement, 0)
	case endListItem:
		s.popUntil(listItemScope, tag, 0)
	case endDefinition:
		s.popUntil(defaultScope, tag, 0)
	case endHeading:
		s.popUntil(defaultScope, nil, heading)
	case endFormatting:
		s.adopt(tag)
	case endForm:
		s.endForm()
	case endObject:
		if s.popUntil(defaultScope, tag, 0) {
			s.clearToMarker()
		}
	case endBr: // is read as a start tag
		s.kind, s.attrs = startToken, s.attrs[:0]
		return false
	case endBody:
		if s.inScope(defaultScope, bodyElement) {
			s.mode = afterBody
		}
	case endHTML:
		if !s.inScope(defaultScope, bodyElement) {
			return true
		}
		s.mode = afterBody
		return false
	case endTemplate: // none is open
	default:
		s.endAnyOther(tag)
	}
	return true
}

// impliedP processes a start tag of p.
func (s *stream) impliedP() {
	end := s.token
	s.token = token{kind: startToken, tag: pElement}
	s.process()
	s.token = end
}

// endForm ends the form to which the form element pointer points. Elements that are still open
// in the form do not end.
func (s *stream) endForm() {
	form := s.form
	s.form = 0
	i := s.indexInScope(defaultScope, formElement, 0)
	if form == 0 || i < 0 || s.open[i].id != form {
		return
	}
	s.generateImpliedEndTags(nil)
	if i == len(s.open)-1 {
		s.pop()
	} else {
		s.removeForm(i)
	}
}

// endAnyOther is the rule for any other end tag: it ends the element up to which no special
// element is open.
func (s *stream) endAnyOther(e *element) {
	for i := len(s.open) - 1; i >= 0; i-- {
		o := &s.open[i]
		if o.space == inHTML && o.is(e) && (e != unknownElement || equalFoldASCII(s.src[o.nameFrom:o.nameTo], s.name())) {
			s.popTo(i)
			return
		}
		if o.isSpecial() {
			return
		}
	}
}

// quirks reports whether the document is in quirks mode, where a table may be in a paragraph
// (13.2.6.4.1). It asks the tree parser.
func (s *stream) quirks() bool {
	if s.quirksMode == 0 {
		s.quirksMode = -1
		if s.tableInP() {
			s.quirksMode = 1
		}
	}
	return s.quirksMode > 0
}

func (s *stream) tableInP() bool {
	root, err := html.Parse(strings.NewReader(s.doctype + "<p><table>"))
	if err != nil {
		s.giveUp("document type")
		return true
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "table" {
			return n.Parent.Data == "p"
		}
	}
	return true
}
