package variants

import (
	"encoding/binary"
	"slices"
)

const (
	// enough points bring a rule into force.
	enough = 6
	// Points of a path: of a redirect or canonical URL, and of equal content.
	said, looks = 2, 1
)

// site is what is known of one site. The zero value is nothing.
type site struct {
	// merged counts URLs that are given up; bytes is what those of learnt rules
	// take in an event.
	merged, bytes uint64
	rules         map[Rule]standing
}

// standing is what is known of a rule of a site.
type standing struct {
	broken bool
	// tried: a URL that it would take was asked for all the same.
	tried bool
	paths []confirmation
}

// confirmation is the points of one path, by its hash.
type confirmation struct {
	path   uint64
	points uint8
}

func (s standing) inForce() bool { return !s.broken && s.points() >= enough }

func (s standing) points() (sum int) {
	for _, c := range s.paths {
		sum += int(c.points)
	}
	return sum
}

// are returns the rules of which a fact is true.
func (s *site) are(fact func(standing) bool) (set Set) {
	for r, st := range s.rules {
		if fact(st) {
			set |= of(r)
		}
	}
	return set
}

// inForce are the rules that are.
func (s *site) inForce() Set { return s.are(standing.inForce) }

// confirmed are the rules that anything speaks for.
func (s *site) confirmed() Set {
	return s.are(func(st standing) bool { return len(st.paths) > 0 })
}

// said are the rules that a redirect or a canonical URL speaks for.
func (s *site) said() Set {
	return s.are(func(st standing) bool {
		return slices.ContainsFunc(st.paths, func(c confirmation) bool { return c.points == said })
	})
}

// tried are the rules that are.
func (s *site) tried() Set { return s.are(func(st standing) bool { return st.tried }) }

// broken are the rules that are.
func (s *site) broken() Set { return s.are(func(st standing) bool { return st.broken }) }

// confirm gives points to a rule for a path; it is false if nothing changes.
func (s *site) confirm(r Rule, path uint64, points uint8) bool {
	st := s.rules[r]
	if st.broken || st.inForce() {
		return false
	}
	at := slices.IndexFunc(st.paths, func(c confirmation) bool { return c.path == path })
	switch {
	case at < 0:
		st.paths = append(slices.Clip(st.paths), confirmation{path, points})
	case st.paths[at].points >= points:
		return false
	default:
		st.paths = slices.Clone(st.paths)
		st.paths[at].points = points
	}
	s.rules[r] = st
	return true
}

// try notes that a probe tries rules.
func (s *site) try(rules Set) {
	rules.each(func(r Rule) {
		st := s.rules[r]
		st.tried = true
		s.rules[r] = st
	})
}

// refute breaks a rule; it is false if it was.
func (s *site) refute(r Rule) bool {
	if s.rules[r].broken {
		return false
	}
	s.rules[r] = standing{broken: true}
	return true
}

// doubt forgets the equal texts that speak for rules; what is in force by them
// breaks.
func (s *site) doubt(rules Set) {
	rules.each(func(r Rule) {
		st := s.rules[r]
		was := st.inForce()
		st.paths = slices.DeleteFunc(slices.Clone(st.paths), func(c confirmation) bool { return c.points == looks })
		switch {
		case st.broken:
		case was && !st.inForce():
			s.refute(r)
		case len(st.paths) == 0:
			delete(s.rules, r)
		default:
			s.rules[r] = st
		}
	})
}

// Flags of a rule, below the number of its paths.
const (
	isBroken = 1 << iota
	isTried
)

// encode writes a site: varints, and 8 bytes for each path.
func (s *site) encode() []byte {
	b := binary.AppendUvarint(nil, s.merged)
	b = binary.AppendUvarint(b, s.bytes)
	for r := range Rule(rules) {
		st, ok := s.rules[r]
		if !ok {
			continue
		}
		state := uint64(len(st.paths)) << 2
		if st.broken {
			state |= isBroken
		}
		if st.tried {
			state |= isTried
		}
		b = binary.AppendUvarint(append(b, byte(r)), state)
		for _, c := range st.paths {
			b = append(binary.BigEndian.AppendUint64(b, c.path), c.points)
		}
	}
	return b
}

// decode is the inverse of encode. Of a value that it did not write it makes what
// it can: who damages a store is found out by the ledger.
func decode(b []byte) *site {
	s := &site{rules: map[Rule]standing{}}
	var n int
	uvarint := func() uint64 {
		v, size := binary.Uvarint(b[n:])
		n += max(size, 0)
		return v
	}
	s.merged, s.bytes = uvarint(), uvarint()
	for n < len(b) {
		r := Rule(b[n])
		n++
		state := uvarint()
		st := standing{broken: state&isBroken != 0, tried: state&isTried != 0}
		for range state >> 2 {
			if len(b)-n < 9 {
				return s
			}
			st.paths = append(st.paths, confirmation{binary.BigEndian.Uint64(b[n:]), b[n+8]})
			n += 9
		}
		if int(r) < rules { // else it is of a newer program
			s.rules[r] = st
		}
	}
	return s
}
