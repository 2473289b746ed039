package document

import "golang.org/x/net/html"

// formattingElement is an entry of the list of active formatting elements (WHATWG HTML 13.2.4.3).
type formattingElement struct {
	at, end int    // where its start tag is
	id      uint32 // of the element on the stack
	number  uint8  // of the element; 0: a marker
	// plain: the collector reads none of its attributes.
	plain bool
	// silent: the collector takes no notice of the element: it is plain, or an a element that is
	// not a link.
	silent bool
}

// mostFormatting bounds the list, so that a search of it takes little time.
const mostFormatting = 64

func (s *stream) insertMarker() {
	if len(s.active) == mostFormatting {
		s.giveUp("too many active formatting elements")
		return
	}
	s.active = append(s.active, formattingElement{})
}

// clearToMarker clears the list up to the last marker.
func (s *stream) clearToMarker() {
	for len(s.active) > 0 {
		last := s.active[len(s.active)-1]
		s.active = s.active[:len(s.active)-1]
		if last.number == 0 {
			return
		}
	}
	s.giveUp("no marker in the list of active formatting elements")
}

// insertFormatting inserts an element for the tag and pushes it onto the list of active
// formatting elements.
func (s *stream) insertFormatting() {
	s.insert(s.tag, inHTML, s.attrs)
	same, equal, third := 0, 0, 0
	for i := len(s.active) - 1; i >= 0 && s.active[i].number != 0; i-- {
		if f := s.active[i]; f.number == s.tag.number {
			same++
			if s.src[f.at:f.end] == s.src[s.at:s.pos] {
				equal++
				third = i
			}
		}
	}
	// The Noah's Ark clause: of elements with equal attributes only the last three stay.
	switch {
	case same < mostAlike:
	case same == mostAlike && equal == mostAlike:
		s.removeActive(third)
	default:
		s.giveUp("more than three formatting elements of a name")
	}
	if len(s.active) == mostFormatting {
		s.giveUp("too many active formatting elements")
		return
	}
	plain := s.tag.role == plainRole && len(s.attrs) == 0
	s.active = append(s.active, formattingElement{
		number: s.tag.number, id: s.ids, at: s.at, end: s.pos, plain: plain,
		silent: plain || s.tag == aElement && !has(s.attrs, "href") && !has(s.attrs, "xlink:href") &&
			!has(s.attrs, "hidden") && !has(s.attrs, "popover"),
	})
}

func (s *stream) removeActive(i int) { s.active = append(s.active[:i], s.active[i+1:]...) }

// indexOf returns the place of an element on the stack, or -1.
func (s *stream) indexOf(id uint32) int {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].id == id {
			return i
		}
	}
	return -1
}

// reconstruct reconstructs the active formatting elements: it opens elements again that were closed
// without their own end tag.
func (s *stream) reconstruct() {
	from := len(s.active)
	for from > 0 && s.active[from-1].number != 0 && s.indexOf(s.active[from-1].id) < 0 {
		from--
	}
	for i := from; i < len(s.active) && s.needsTree == ""; i++ {
		f := &s.active[i]
		e := elements[f.number]
		var attrs []html.Attribute
		if !f.plain {
			attrs, _, _ = s.attributes(s.again[:0], f.at+len("<")+len(e.name), e.traits&reads != 0)
			s.again = attrs
		}
		// What is opened again may be many times the body.
		if s.reopened += f.end - f.at + elementBytes; s.reopened > maxOpenedAgain {
			s.giveUp("too many elements are opened again")
			return
		}
		s.insert(e, inHTML, attrs)
		f.id = s.ids
	}
}

// maxOpenedAgain bounds the bytes that are read, or needed, for elements that are opened again.
const maxOpenedAgain = 4 << 20

func (s *stream) indexActive(id uint32) int {
	for i := len(s.active) - 1; i >= 0; i-- {
		if s.active[i].number != 0 && s.active[i].id == id {
			return i
		}
	}
	return -1
}
