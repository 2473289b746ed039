package document

import "strings"

// insertionMode is a state of tree construction (WHATWG HTML 13.2.4.1). The others than these are
// left to the tree: the modes of framesets and templates. The text mode is rawText.
type insertionMode uint8

const (
	initialMode insertionMode = iota
	beforeHTML
	beforeHead
	inHeadMode
	afterHead
	inBody
	inTable
	inCaption
	inColumnGroup
	inTableBody
	inRow
	inCell
	afterBody
	afterAfterBody
)

// start takes a start tag by the rules of the insertion mode, and reports whether it is used. If
// not, the tag is reprocessed.
func (s *stream) start() bool {
	switch s.mode {
	case initialMode:
		s.mode = beforeHTML
	case beforeHTML:
		if s.tag == htmlElement {
			return s.insertRoot(true)
		}
		return s.insertRoot(false)
	case beforeHead:
		switch s.tag {
		case headElement:
			s.insert(headElement, inHTML, s.attrs)
			s.mode = inHeadMode
			return true
		case htmlElement:
			return s.anotherRoot()
		}
		return s.insertHead()
	case inHeadMode:
		return s.startInHead()
	case afterHead:
		return s.startAfterHead()
	case inTable:
		return s.startInTable()
	case inCaption:
		return s.startInCaption()
	case inColumnGroup:
		return s.startInColumnGroup()
	case inTableBody:
		return s.startInTableBody()
	case inRow:
		return s.startInRow()
	case inCell:
		return s.startInCell()
	case afterBody, afterAfterBody: // 13.2.6.4.19 and 13.2.6.4.22
		if s.tag == htmlElement {
			return s.anotherRoot()
		}
		s.mode = inBody
	default:
		return s.startInBody()
	}
	return false
}

// end takes an end tag by the rules of the insertion mode, and reports whether it is used.
func (s *stream) end() bool {
	switch s.mode {
	case initialMode:
		s.mode = beforeHTML
	case beforeHTML:
		return !s.impliesRoot() || s.insertRoot(false)
	case beforeHead:
		return !s.impliesRoot() || s.insertHead()
	case inHeadMode: // 13.2.6.4.4; no template is open
		switch s.tag {
		case headElement:
			return s.endHead(true)
		case bodyElement, htmlElement, brElement:
			return s.endHead(false)
		}
		return true
	case afterHead:
		switch s.tag {
		case bodyElement, htmlElement, brElement:
			return s.insertBody()
		}
		return true
	case inTable:
		return s.endInTable()
	case inCaption:
		return s.endInCaption()
	case inColumnGroup:
		return s.endInColumnGroup()
	case inTableBody:
		return s.endInTableBody()
	case inRow:
		return s.endInRow()
	case inCell:
		return s.endInCell()
	case afterBody:
		if s.tag == htmlElement {
			s.mode = afterAfterBody
			return true
		}
		s.mode = inBody
	case afterAfterBody:
		s.mode = inBody
	default:
		return s.endInBody()
	}
	return false
}

// impliesRoot reports whether an end tag is not ignored before the head (13.2.6.4.2, 13.2.6.4.3).
func (s *stream) impliesRoot() bool {
	switch s.tag {
	case headElement, bodyElement, htmlElement, brElement:
		return true
	}
	return false
}

// insertRoot inserts the html element, by the tag if that is its start tag (13.2.6.4.2). It
// returns stated.
func (s *stream) insertRoot(stated bool) bool {
	attrs := s.attrs
	if !stated {
		attrs = nil
	}
	s.insert(htmlElement, inHTML, attrs)
	s.mode = beforeHead
	return stated
}

// insertHead implies the start of the head (13.2.6.4.3), and returns false.
func (s *stream) insertHead() bool {
	s.insert(headElement, inHTML, nil)
	s.mode = inHeadMode
	return false
}

// endHead ends the head (13.2.6.4.4) and returns stated.
func (s *stream) endHead(stated bool) bool {
	s.pop()
	s.mode = afterHead
	return stated
}

// insertBody implies the start of the body (13.2.6.4.6), and returns false.
func (s *stream) insertBody() bool {
	s.insert(bodyElement, inHTML, nil)
	s.mode = inBody
	return false
}

// anotherRoot takes a further start tag of the html element, which adds attributes to the element
// (13.2.6.4.7). Those that the collector reads are read already.
func (s *stream) anotherRoot() bool {
	if has(s.attrs, "lang") || has(s.attrs, "xml:lang") || has(s.attrs, "dir") || annotates(0, s.attrs) {
		s.giveUp("attributes of a further html tag")
	}
	return true
}

// startInHead is for start tags in the head (13.2.6.4.4).
func (s *stream) startInHead() bool {
	switch {
	case s.tag == htmlElement:
		return s.anotherRoot()
	case s.tag == headElement:
		return true
	case s.tag.traits&inHead != 0, s.tag == noscriptElement:
		return s.insertInHead()
	}
	return s.endHead(false)
}

// insertInHead inserts an element by the rules of the "in head" insertion mode.
func (s *stream) insertInHead() bool {
	switch s.tag.start {
	case startMetadata:
		s.insertVoid(s.tag)
	case startTemplate:
		s.giveUp("template")
	default:
		s.insert(s.tag, inHTML, s.attrs)
	}
	return true
}

// startAfterHead is for start tags between head and body (13.2.6.4.6). An element that belongs in
// the head is put there: in front of white space, which does not count as text at the beginning.
func (s *stream) startAfterHead() bool {
	switch {
	case s.tag == htmlElement:
		return s.anotherRoot()
	case s.tag == bodyElement:
		s.insert(bodyElement, inHTML, s.attrs)
		s.mode = inBody
		return true
	case s.tag.start == startFrameset:
		s.giveUp("frameset")
		return true
	case s.tag.traits&inHead != 0:
		return s.insertInHead()
	case s.tag == headElement:
		return true
	}
	return s.insertBody()
}

// textInMode inserts characters by the rules of the insertion mode.
func (s *stream) textInMode(raw string) {
	switch s.mode {
	case inCaption, inCell:
		s.bodyText(raw)
		return
	case afterBody, afterAfterBody:
		if !isBlankText(raw) {
			s.mode = inBody
		}
		s.bodyText(raw)
		return
	case inTable, inTableBody, inRow: // 13.2.6.4.9 and 13.2.6.4.10
		if isBlankText(raw) && s.current().traits&fostering != 0 {
			s.emit(raw)
		} else {
			s.giveUp("foster parenting")
		}
		return
	}
	rest := strings.TrimLeft(raw, htmlSpace)
	if strings.HasPrefix(rest, "&#") || strings.HasPrefix(rest, "&Tab") || strings.HasPrefix(rest, "&NewLine") {
		s.giveUp("a character reference before the body or in a column group")
		return
	}
	blank := raw[:len(raw)-len(rest)]
	switch s.mode {
	case inHeadMode, afterHead, inColumnGroup:
		if blank != "" {
			s.emit(blank)
		}
	}
	if rest == "" {
		return
	}
	switch s.mode {
	case inColumnGroup: // 13.2.6.4.12
		s.giveUp("foster parenting")
		return
	case initialMode, beforeHTML:
		s.insertRoot(false)
		fallthrough
	case beforeHead:
		s.insertHead()
		fallthrough
	case inHeadMode:
		s.endHead(false)
		fallthrough
	default:
		s.insertBody()
	}
	s.bodyText(rest)
}

// isBlankText reports whether a text is white space. A character reference counts as none, which
// makes no difference but in a table.
func isBlankText(raw string) bool { return strings.Trim(raw, htmlSpace) == "" }
