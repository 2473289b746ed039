package document

import "strings"

// The insertion modes of tables (WHATWG HTML 13.2.6.4.9 to 13.2.6.4.15). Contents that are not
// permitted in a table are moved in front of it, and need a tree. Each method reports whether the
// tag is used.

// startInTable is 13.2.6.4.9.
func (s *stream) startInTable() bool {
	switch tag := s.tag; {
	case tag == captionElement:
		s.clearToContext(nil, tableScoped)
		s.insertMarker()
		s.insert(tag, inHTML, s.attrs)
		s.mode = inCaption
	case tag == colgroupElement:
		s.clearToContext(nil, tableScoped)
		s.insert(tag, inHTML, s.attrs)
		s.mode = inColumnGroup
	case tag == colElement:
		s.clearToContext(nil, tableScoped)
		s.insert(colgroupElement, inHTML, nil)
		s.mode = inColumnGroup
		return false
	case tag.traits&rowGroup != 0:
		s.clearToContext(nil, tableScoped)
		s.insert(tag, inHTML, s.attrs)
		s.mode = inTableBody
	case tag.traits&cell != 0, tag == trElement:
		s.clearToContext(nil, tableScoped)
		s.insert(tbodyElement, inHTML, nil)
		s.mode = inTableBody
		return false
	case tag == tableElement:
		if !s.popUntil(tableScope, tableElement, 0) {
			return true
		}
		s.resetInsertionMode()
		return false
	case tag == styleElement, tag == scriptElement, tag.start == startTemplate:
		return s.insertInHead()
	case tag == inputElement && strings.EqualFold(attribute(s.attrs, "type"), "hidden"):
		s.insertVoid(tag)
	case tag == formElement:
		if s.form == 0 {
			s.insertVoid(tag)
			s.ids++
			s.form = s.ids
		}
	default:
		s.fostering = true
		used := s.startInBody()
		s.fostering = false
		return used
	}
	return true
}

func (s *stream) endInTable() bool {
	switch tag := s.tag; {
	case tag == tableElement:
		if s.popUntil(tableScope, tableElement, 0) {
			s.resetInsertionMode()
		}
		return true
	case isTablePart(tag), tag == bodyElement, tag == htmlElement, tag.end == endTemplate:
		return true
	}
	s.fostering = true
	used := s.endInBody()
	s.fostering = false
	return used
}

// isTablePart reports whether an element is a part of a table.
func isTablePart(e *element) bool {
	return e.traits&(rowGroup|cell) != 0 || e == trElement || e == captionElement || e == colElement || e == colgroupElement
}

// startInCaption is 13.2.6.4.11. As in the tree parser, th is not in the list.
func (s *stream) startInCaption() bool {
	if isTablePart(s.tag) && s.tag.name != "th" {
		return !s.endCaption()
	}
	return s.startInBody()
}

func (s *stream) endInCaption() bool {
	switch tag := s.tag; {
	case tag == captionElement:
		s.endCaption()
		return true
	case tag == tableElement:
		return !s.endCaption()
	case isTablePart(tag), tag == bodyElement, tag == htmlElement:
		return true
	}
	return s.endInBody()
}

func (s *stream) endCaption() bool {
	if !s.popUntil(tableScope, captionElement, 0) {
		return false
	}
	s.clearToMarker()
	s.mode = inTable
	return true
}

// startInColumnGroup is 13.2.6.4.12.
func (s *stream) startInColumnGroup() bool {
	switch {
	case s.tag == htmlElement:
		return s.anotherRoot()
	case s.tag == colElement:
		s.insertVoid(s.tag)
		return true
	case s.tag.start == startTemplate:
		return s.insertInHead()
	}
	return s.endColumnGroup()
}

func (s *stream) endInColumnGroup() bool {
	switch {
	case s.tag == colgroupElement:
		s.endColumnGroup()
		return true
	case s.tag == colElement, s.tag.end == endTemplate:
		return true
	}
	return s.endColumnGroup()
}

// endColumnGroup reports whether the tag is used, because no column group is open.
func (s *stream) endColumnGroup() bool {
	if !s.current().is(colgroupElement) {
		return true
	}
	s.pop()
	s.mode = inTable
	return false
}

// startInTableBody is 13.2.6.4.13.
func (s *stream) startInTableBody() bool {
	switch tag := s.tag; {
	case tag == trElement:
		s.clearToContext(nil, rowGroup)
		s.insert(tag, inHTML, s.attrs)
		s.mode = inRow
		return true
	case tag.traits&cell != 0:
		s.clearToContext(nil, rowGroup)
		s.insert(trElement, inHTML, nil)
		s.mode = inRow
		return false
	case isTablePart(tag):
		return !s.endTableBody()
	}
	return s.startInTable()
}

func (s *stream) endInTableBody() bool {
	switch tag := s.tag; {
	case tag.traits&rowGroup != 0:
		if s.inScope(tableScope, tag) {
			s.clearToContext(nil, rowGroup)
			s.pop()
			s.mode = inTable
		}
		return true
	case tag == tableElement:
		return !s.endTableBody()
	case isTablePart(tag), tag == bodyElement, tag == htmlElement:
		return true
	}
	return s.endInTable()
}

func (s *stream) endTableBody() bool {
	if !s.popUntil(tableScope, nil, rowGroup) {
		return false
	}
	s.mode = inTable
	return true
}

// startInRow is 13.2.6.4.14.
func (s *stream) startInRow() bool {
	switch tag := s.tag; {
	case tag.traits&cell != 0:
		s.clearToContext(trElement, 0)
		s.insert(tag, inHTML, s.attrs)
		s.insertMarker()
		s.mode = inCell
		return true
	case isTablePart(tag):
		return !s.endRow()
	}
	return s.startInTable()
}

func (s *stream) endInRow() bool {
	switch tag := s.tag; {
	case tag == trElement:
		s.endRow()
		return true
	case tag == tableElement:
		return !s.endRow()
	case tag.traits&rowGroup != 0:
		return !s.inScope(tableScope, tag) || !s.endRow()
	case isTablePart(tag), tag == bodyElement, tag == htmlElement:
		return true
	}
	return s.endInTable()
}

func (s *stream) endRow() bool {
	if !s.inScope(tableScope, trElement) {
		return false
	}
	s.clearToContext(trElement, 0)
	s.pop()
	s.mode = inTableBody
	return true
}

// startInCell is 13.2.6.4.15.
func (s *stream) startInCell() bool {
	if isTablePart(s.tag) {
		return !s.endCell()
	}
	return s.startInBody()
}

func (s *stream) endInCell() bool {
	switch tag := s.tag; {
	case tag.traits&cell != 0:
		if s.popUntil(tableScope, tag, 0) {
			s.clearToMarker()
			s.mode = inRow
		}
		return true
	case tag == bodyElement, tag == captionElement, tag == colElement, tag == colgroupElement, tag == htmlElement:
		return true
	case tag == tableElement, tag == trElement, tag.traits&rowGroup != 0:
		if !s.inScope(tableScope, tag) {
			return true
		}
		s.endCell()
		s.mode = inRow
		return false
	}
	return s.endInBody()
}

// endCell closes the cell.
func (s *stream) endCell() bool {
	if !s.popUntil(tableScope, nil, cell) {
		return false
	}
	s.clearToMarker()
	s.mode = inRow
	return true
}
