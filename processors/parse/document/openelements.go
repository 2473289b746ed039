package document

import "golang.org/x/net/html"

// openElement is an entry of the stack of open elements (WHATWG HTML 13.2.4.2).
// It has no pointers, so that the garbage collector has no work with the stack.
type openElement struct {
	// nameFrom and nameTo are where the name of an unknown or foreign element is written.
	nameFrom, nameTo int
	id               uint32
	traits
	number uint8 // of the element
	start  startRule
	role   role
	space  namespace
	// point: a MathML annotation-xml that is an HTML integration point.
	point bool
	// mutes: the element is the outermost element with hidden text.
	mutes bool
	// forms counts form elements around this one that are not on the stack any more. They end
	// where this element ends.
	forms int32
}

// is reports whether o has the name of e. All unknown elements have one name here.
func (o *openElement) is(e *element) bool { return o.number == e.number }

// namespace is the namespace of an element. Elements in SVG and MathML are foreign.
type namespace uint8

const (
	inHTML namespace = iota
	inSVG
	inMathML
)

// mostOpen is a number of open elements below that at which the tree parser refuses a document.
const mostOpen = 500

func (s *stream) current() *openElement { return &s.open[len(s.open)-1] }

// insert inserts an element at the current node (13.2.6.1, insert a foreign element), and makes
// it the current node. attrs are those that the collector reads.
func (s *stream) insert(e *element, space namespace, attrs []html.Attribute) {
	if !s.appropriate() {
		return
	}
	if len(s.open) == mostOpen {
		s.giveUp("too many open elements")
		return
	}
	s.ids++
	o := openElement{id: s.ids, traits: e.traits, number: e.number, start: e.start, role: e.role, space: space}
	if e == unknownElement || space != inHTML {
		o.nameFrom, o.nameTo = s.nameFrom, s.nameTo
	}
	if s.skipped == 0 {
		if !s.c.muted && s.c.mutes(e.atom, attrs) {
			o.mutes, s.c.muted = true, true
		}
		if !s.c.open(e.atom, e.role, attrs) {
			s.skipped = len(s.open) + 1
		}
	}
	s.open = append(s.open, o)
	if space == inHTML {
		s.counts[e.number]++
	}
	s.fresh = space == inHTML && e.start == startPre
}

// insertVoid inserts an element that has no contents.
func (s *stream) insertVoid(e *element) {
	if !s.appropriate() {
		return
	}
	s.fresh = false
	if s.skipped == 0 {
		s.c.open(e.atom, e.role, s.attrs)
		s.c.close(e.role)
	}
}

// appropriate reports whether the appropriate place for inserting a node (13.2.6.1) is at the
// end of the current node. If not, the node is foster parented: it moves in front of a table.
func (s *stream) appropriate() bool {
	if s.fostering && s.current().traits&fostering != 0 {
		s.giveUp("foster parenting")
	}
	return s.needsTree == ""
}

// pop takes the current node off the stack.
func (s *stream) pop() {
	n := len(s.open) - 1
	o := &s.open[n]
	if o.space == inHTML {
		s.counts[o.number]--
	}
	if s.skipped == 0 || s.skipped == n+1 {
		s.skipped = 0
		if o.mutes {
			s.c.muted = false
		}
		s.c.close(o.role)
		for range o.forms {
			s.c.close(formRole)
		}
	}
	s.open = s.open[:n]
	s.fresh = false
}

// popTo pops until n elements are open.
func (s *stream) popTo(n int) {
	for len(s.open) > n {
		s.pop()
	}
}

// removeForm takes a form off the stack that is not the current node. The elements in it stay
// on the stack, and in the form.
func (s *stream) removeForm(i int) {
	form := &s.open[i]
	if form.mutes || s.skipped > 0 {
		s.giveUp("an end tag of a form within elements of which nothing is shown")
		return
	}
	s.open[i+1].forms += 1 + form.forms
	s.counts[form.number]--
	s.open = append(s.open[:i], s.open[i+1:]...)
}

// scope is a set of elements that end the search for an element in scope (13.2.4.2).
type scope uint8

const (
	defaultScope scope = iota
	listItemScope
	buttonScope
	tableScope
)

// indexInScope returns the place of the topmost element e, or of one with some of the traits, if
// it is in scope, or -1.
func (s *stream) indexInScope(in scope, e *element, some traits) int {
	if e != nil && s.counts[e.number] == 0 {
		return -1
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		o := &s.open[i]
		if o.space == inHTML {
			if e != nil && o.is(e) || o.traits&some != 0 {
				return i
			}
			switch {
			case in == listItemScope && o.traits&listing != 0,
				in == buttonScope && o.is(buttonElement),
				in == tableScope && o.traits&tableScoped != 0:
				return -1
			}
		}
		if in != tableScope && o.isScoping() {
			return -1
		}
	}
	return -1
}

func (o *openElement) isScoping() bool {
	switch o.space {
	case inSVG:
		return o.traits&svgPoint != 0
	case inMathML:
		return o.traits&mathPoint != 0
	}
	return o.traits&scoping != 0
}

func (o *openElement) isSpecial() bool {
	if o.space == inHTML {
		return o.traits&special != 0
	}
	return o.isScoping()
}

func (s *stream) inScope(in scope, e *element) bool { return s.indexInScope(in, e, 0) >= 0 }

// popUntil pops up to an element, itself included, if it is in scope, and reports whether it is.
func (s *stream) popUntil(in scope, e *element, some traits) bool {
	i := s.indexInScope(in, e, some)
	if i >= 0 {
		s.popTo(i)
	}
	return i >= 0
}

// closeP closes a p element (13.2.6.4.7).
func (s *stream) closeP() {
	if s.counts[pElement.number] > 0 {
		s.popUntil(buttonScope, pElement, 0)
	}
}

// generateImpliedEndTags generates implied end tags (13.2.6.3), except for one element.
func (s *stream) generateImpliedEndTags(except *element) {
	for o := s.current(); o.traits&implied != 0 && (except == nil || !o.is(except)); o = s.current() {
		s.pop()
	}
}

// clearToContext clears the stack back to the context of a table, a table body or a row
// (13.2.6.4.9, 13.2.6.4.13 and 13.2.6.4.14), which is an element with some of the traits, or e.
func (s *stream) clearToContext(e *element, some traits) {
	for i := len(s.open) - 1; i >= 0; i-- {
		if o := &s.open[i]; o.traits&some != 0 || e != nil && o.is(e) || o.is(htmlElement) {
			s.popTo(i + 1)
			return
		}
	}
}

// resetInsertionMode resets the insertion mode appropriately (13.2.4.1).
func (s *stream) resetInsertionMode() {
	for i := len(s.open) - 1; i >= 0; i-- {
		switch o := &s.open[i]; {
		case o.traits&cell != 0:
			s.mode = inCell
		case o.is(trElement):
			s.mode = inRow
		case o.traits&rowGroup != 0:
			s.mode = inTableBody
		case o.is(captionElement):
			s.mode = inCaption
		case o.is(colgroupElement):
			s.mode = inColumnGroup
		case o.is(tableElement):
			s.mode = inTable
		case o.is(headElement):
			s.mode = inHeadMode
		case o.is(bodyElement):
			s.mode = inBody
		case o.is(htmlElement):
			s.mode = afterHead
		default:
			continue
		}
		return
	}
}
