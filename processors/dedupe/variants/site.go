package variants

import (
	"maps"
	"slices"

	"github.com/weftcrawl/weft/internal/kv"
)

const (
	// enough points bring a rule into force.
	enough = 6
	// Points of a path: of a redirect or a canonical URL, and of equal texts.
	said, looks = 2, 1
)

// site is what is known of one site. The zero value knows nothing.
type site struct {
	// merged counts merged URLs; bytes is what those that learnt rules merged take in an
	// event.
	merged, bytes uint64
	rules         map[Rule]ruleState
}

// ruleState is what is known of a rule of a site.
type ruleState struct {
	broken bool
	// tried: a URL that it would take was fetched as a probe.
	tried bool
	paths []confirmation
}

// confirmation is the points of one path, by its hash.
type confirmation struct {
	path   uint64
	points uint8
}

func (s ruleState) inForce() bool { return !s.broken && s.points() >= enough }

func (s ruleState) points() (sum int) {
	for _, c := range s.paths {
		sum += int(c.points)
	}
	return sum
}

// are returns the rules for which a fact is true.
func (s *site) are(fact func(ruleState) bool) (set Set) {
	for r, st := range s.rules {
		if fact(st) {
			set |= of(r)
		}
	}
	return set
}

func (s *site) inForce() Set { return s.are(ruleState.inForce) }

// confirmed are the rules that anything speaks for.
func (s *site) confirmed() Set {
	return s.are(func(st ruleState) bool { return len(st.paths) > 0 })
}

// said are the rules that a redirect or a canonical URL speaks for.
func (s *site) said() Set {
	return s.are(func(st ruleState) bool {
		return slices.ContainsFunc(st.paths, func(c confirmation) bool { return c.points == said })
	})
}

func (s *site) tried() Set { return s.are(func(st ruleState) bool { return st.tried }) }

func (s *site) broken() Set { return s.are(func(st ruleState) bool { return st.broken }) }

// confirm gives points to a rule for a path. It returns false if nothing changes.
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

// refute breaks a rule. It returns false if it was broken.
func (s *site) refute(r Rule) bool {
	if s.rules[r].broken {
		return false
	}
	s.rules[r] = ruleState{broken: true}
	return true
}

// doubt takes back the points that equal texts gave to rules. A rule that is in force
// because of them breaks.
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
	pathsShift = iota
)

func (s *site) fields(f *kv.Fields) {
	f.Uint(&s.merged)
	f.Uint(&s.bytes)
	known := slices.Sorted(maps.Keys(s.rules))
	kv.Rest(f, &known, func(r *Rule) {
		f.Byte((*uint8)(r))
		st := s.rules[*r]
		st.fields(f)
		if int(*r) < rules { // other rules are of a newer program
			s.rules[*r] = st
		}
	})
}

func (s *ruleState) fields(f *kv.Fields) {
	state := uint64(len(s.paths)) << pathsShift
	if s.broken {
		state |= isBroken
	}
	if s.tried {
		state |= isTried
	}
	f.Uint(&state)
	s.broken, s.tried = state&isBroken != 0, state&isTried != 0
	kv.Elements(f, &s.paths, state>>pathsShift, func(c *confirmation) {
		f.Uint64(&c.path)
		f.Byte(&c.points)
	})
}

func (s *site) encode() []byte { return kv.Encode(64, s.fields) }

// decode is the inverse of encode. Of any other value it makes what it can: the ledger
// finds damage of a store.
func decode(b []byte) *site {
	s := &site{rules: map[Rule]ruleState{}}
	_ = kv.Decode(b, s.fields)
	return s
}
