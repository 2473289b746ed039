package document

// adopt runs the adoption agency algorithm for an end tag e (WHATWG HTML 13.2.6.4.7). The algorithm
// ends a formatting element, and opens a copy of it in the furthest block: the first special
// element that is open in it.
func (s *stream) adopt(e *element) {
	if o := s.current(); o.is(e) && s.indexActive(o.id) < 0 {
		s.pop()
		return
	}
	for range 8 {
		i := len(s.active) - 1
		for i >= 0 && s.active[i].number != e.number {
			if s.active[i].number == 0 {
				i = -1
				break
			}
			i--
		}
		if i < 0 {
			s.endAnyOther(e)
			return
		}
		at := s.indexOf(s.active[i].id)
		switch {
		case at < 0:
			s.removeActive(i)
			return
		case !s.inScope(defaultScope, e):
			return
		}
		furthest := at + 1
		for furthest < len(s.open) && !s.open[furthest].isSpecial() {
			furthest++
		}
		if furthest == len(s.open) {
			s.popTo(at)
			s.removeActive(i)
			return
		}
		if !s.silent(at, furthest) {
			s.giveUp("adoption agency")
			return
		}
		s.moveFurthest(i, at, furthest)
	}
}

// longestWay bounds the way from a formatting element to its furthest block. The algorithm drops
// elements beyond three on that way from the list of active formatting elements.
const longestWay = 3

// silent reports whether the collector takes no notice of a formatting element, which is element at of
// the stack, and of the elements between it and the furthest block. Then it makes no difference
// that the furthest block moves out of them, and that copies of them are opened.
func (s *stream) silent(at, furthest int) bool {
	if s.skipped > 0 || furthest-at > longestWay || s.open[at-1].traits&fostering != 0 {
		return false
	}
	for n := at; n < furthest; n++ {
		o := &s.open[n]
		if o.space != inHTML || o.mutes || o.forms > 0 {
			return false
		}
		if j := s.indexActive(o.id); j >= 0 && !s.active[j].silent || j < 0 && o.role != plainRole {
			return false
		}
	}
	return true
}

// moveFurthest moves the furthest block out of a formatting element that is silent, entry i of the
// list, and opens a copy of that element in the block. What was in the block is in the copy then.
func (s *stream) moveFurthest(i, at, furthest int) {
	formatting := s.active[i]
	bookmark, first := i, true
	for n := furthest - 1; n > at; n-- {
		o := &s.open[n]
		j := s.indexActive(o.id)
		if j < 0 {
			s.counts[o.number]--
			s.open = append(s.open[:n], s.open[n+1:]...)
			furthest--
			continue
		}
		s.ids++
		s.active[j].id, o.id = s.ids, s.ids
		if first {
			bookmark, first = j+1, false
		}
	}
	// The copy takes the place of the formatting element in the list, or that behind the copy of
	// the element next to the block. On the stack it is behind the block.
	s.ids++
	copied := s.open[at]
	formatting.id, copied.id = s.ids, s.ids
	if i < bookmark {
		bookmark--
	}
	copy(s.active[i:], s.active[i+1:])
	copy(s.active[bookmark+1:], s.active[bookmark:])
	s.active[bookmark] = formatting
	copy(s.open[at:], s.open[at+1:furthest+1])
	s.open[furthest] = copied
	s.fresh = false
}

// endAnchor ends an open a element before the start of another.
func (s *stream) endAnchor() {
	for i := len(s.active) - 1; i >= 0 && s.active[i].number != 0; i-- {
		f := s.active[i]
		if f.number != aElement.number {
			continue
		}
		s.adopt(aElement)
		if s.indexOf(f.id) >= 0 {
			s.giveUp("a link in a link")
		}
		if i := s.indexActive(f.id); i >= 0 {
			s.removeActive(i)
		}
		return
	}
}
