package parse

import "golang.org/x/net/html/atom"

// muter tells the tokenizer's reader where a muted element ends. It knows what is
// open in the element, and nothing of what is around: an end tag that nothing in
// it waits for is taken for that of an element around it, so that a missing end
// tag shows too much rather than too little.
type muter struct {
	name atom.Atom
	// open are the names of the muted element and of those open in it.
	open []string
	// barrier is the first of them within which start tags do not end the muted
	// element, 0 for none.
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
		case blockRole, headingRole, preRole, formRole:
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

// isBarrier reports whether elements that would end an open one are at home in an
// element within it.
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
