package politeness

import (
	"slices"
	"time"
)

// Witness checks the code that paces requests. It is told when each request begins and
// ends, and says which one began too early. It shares nothing with that code, so that
// the two can disagree.
//
// A Witness knows what one process did. What a former owner of a domain did is in the
// topics, which weft verify reads.
//
// The zero value has seen nothing. It remembers a domain as long as its delay runs, and at most
// mostWitnessed of them: it cannot report a violation of a domain that it has forgotten. It is
// not safe for concurrent use.
type Witness struct {
	domains map[string]*sighting
	sweep   int // size at which those whose delay is over are forgotten
}

// sighting is what was seen of a domain.
type sighting struct {
	open int         // requests that have not ended
	rest []time.Time // when each delay that still runs will be over
}

// Violation names what was wrong about a request. The names are a metric's
// labels: they do not change.
type Violation string

const (
	// None says that the request was in order.
	None Violation = ""
	// Overlap says that as many requests of the domain were open as may be.
	Overlap Violation = "overlap"
	// Early says that the delay after an earlier request was not over.
	Early Violation = "early"
)

// Violations returns every violation but None.
func Violations() []Violation { return []Violation{Overlap, Early} }

// Begin books that a request to a domain begins at now, and judges it. perDomain
// is how many may be open at once, 0 meaning 1; each of them keeps the delay.
func (w *Witness) Begin(domain string, now time.Time, perDomain int) Violation {
	s := w.domains[domain]
	if s == nil {
		s = &sighting{}
		w.remember(domain, s, now)
	}
	s.wake(now)
	s.open++
	perDomain = max(perDomain, 1)
	switch {
	case s.open > perDomain:
		return Overlap
	case s.open+len(s.rest) > perDomain:
		return Early
	}
	return None
}

// End books that an open request ended at now, and that the next one must be at least delay later.
func (w *Witness) End(domain string, now time.Time, delay time.Duration) {
	s := w.domains[domain]
	if s == nil || s.open == 0 {
		panic("politeness: a request ended that did not begin")
	}
	s.open--
	if delay > 0 {
		s.rest = append(s.rest, now.Add(delay))
	}
}

// remember makes room for a domain. Forgetting costs as much as was remembered
// since the last time.
func (w *Witness) remember(domain string, s *sighting, now time.Time) {
	if len(w.domains) >= w.sweep {
		for name, old := range w.domains {
			if old.wake(now); old.open == 0 && len(old.rest) == 0 {
				delete(w.domains, name)
			}
		}
		for name, old := range w.domains {
			if len(w.domains) <= mostWitnessed/2 {
				break
			}
			if old.open == 0 {
				delete(w.domains, name)
			}
		}
		w.sweep = max(minSweep, 2*len(w.domains))
	}
	if w.domains == nil {
		w.domains = map[string]*sighting{}
	}
	w.domains[domain] = s
}

const (
	// minSweep is the least number of domains worth a look.
	minSweep = 1024
	// mostWitnessed bounds the domains that are remembered, except those with open requests.
	mostWitnessed = 1 << 17
)

func (s *sighting) wake(now time.Time) {
	s.rest = slices.DeleteFunc(s.rest, func(end time.Time) bool { return !end.After(now) })
}
