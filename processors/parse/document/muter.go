package document

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// muter tells the reader of tokens where a muted element ends. It knows the elements that are
// open in the muted one, and not those around it. If an end tag belongs to no open element, it
// counts as the end of an element around the muted one, and ends the muted one, too: if an end
// tag is missing, too much text is shown rather than too little.
type muter struct {
	name atom.Atom
	// open are the names of the muted element and of those open in it.
	open []string
	// barrier is the index in open of an element within which start tags do not end the muted
	// element; 0: there is no such element.
	barrier int
}

// mutedDepth is how many open elements a muter knows.
const mutedDepth = 512

func (m *muter) active() bool { return len(m.open) > 0 }

// start takes the start tag of the element to mute, or of one in it.
func (m *muter) start(name atom.Atom, tag []byte) {
	switch {
	case !m.active():
		m.name, m.barrier = name, 0
	case len(m.open) == mutedDepth:
		return
	case m.barrier == 0 && isBarrier(m.name, name):
		m.barrier = len(m.open)
	}
	m.open = append(m.open, atom.String(tag))
}

// implied takes a start tag, which ends the muted element if that needs no end tag
// before it (WHATWG HTML, optional tags).
func (m *muter) implied(name atom.Atom, role role) {
	if m.active() && m.barrier == 0 && impliesEnd(m.name, name, role) {
		m.open = m.open[:0]
	}
}

func (m *muter) end(tag []byte) {
	last := len(m.open) - 1
	for last > 0 && m.open[last] != string(tag) {
		last--
	}
	m.open = m.open[:max(last, 0)]
	if m.barrier >= last {
		m.barrier = 0
	}
}

// impliesEnd reports whether the start of an element ends an open one.
func impliesEnd(open, start atom.Atom, role role) bool {
	switch open {
	case atom.P:
		switch role {
		case blockRole, figureRole, captionRole, headingRole, preRole, formRole:
			return start != atom.Select
		}
	case atom.Li, atom.Optgroup:
		return start == open
	case atom.Option:
		return start == atom.Option || start == atom.Optgroup
	case atom.Dt, atom.Dd:
		return start == atom.Dt || start == atom.Dd
	case atom.Rt, atom.Rp:
		switch start {
		case atom.Rb, atom.Rp, atom.Rt, atom.Rtc:
			return true
		}
	case atom.Td, atom.Th, atom.Caption, atom.Colgroup:
		return role == cellRole || start == atom.Tr || isRowGroup(start)
	case atom.Tr:
		return start == atom.Tr || isRowGroup(start)
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return isRowGroup(start)
	}
	return false
}

func isRowGroup(name atom.Atom) bool {
	return name == atom.Tbody || name == atom.Thead || name == atom.Tfoot
}

// isBarrier reports whether an element is a barrier within an open one: the start tags that
// would end the open element belong to the barrier there.
func isBarrier(open, within atom.Atom) bool {
	switch within {
	case atom.Table, atom.Template:
		return true
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		return open == atom.Li
	case atom.Dl:
		return open == atom.Dt || open == atom.Dd
	case atom.Ruby:
		return open == atom.Rt || open == atom.Rp
	case atom.Select:
		return open == atom.P
	}
	return false
}

// mutes reports whether a browser shows nothing of an element's contents (WHATWG HTML,
// rendering: hidden elements; and the contents of media, meters and progress bars, which are
// for browsers without them). Its links count nevertheless: a menu that a script opens is
// hidden until then. The attribute does not count for a body, which may also be shown by its
// script.
func (c *collector) mutes(name atom.Atom, attrs []html.Attribute) bool {
	switch name {
	case atom.Audio, atom.Video, atom.Canvas, atom.Datalist, atom.Meter, atom.Progress, atom.Rp:
		return true
	case atom.Annotation, atom.AnnotationXml: // such as a formula in TeX (MathML Core)
		if c.foreign > 0 {
			return true
		}
	case atom.Dialog:
		if _, open := lookup(attrs, "open"); !open {
			return true
		}
	case atom.Body, atom.Html, atom.Head, atom.Template: // a shadow root has no attributes
		return false
	}
	for i := range attrs {
		switch attrs[i].Key {
		case "hidden":
			// Text that is hidden until it is found is meant to be found.
			if !strings.EqualFold(attrs[i].Val, "until-found") {
				return true
			}
		case "popover": // an open dialog is shown nevertheless
			if name != atom.Dialog {
				return true
			}
		}
	}
	return false
}
