package duplicates

import (
	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// Page is a page as its record of parsed has it.
type Page struct {
	ID, URL string
	// Domain is the registrable domain of URL.
	Domain string
	Print  simhash.Fingerprint
	// Verdict says which page it is a duplicate of.
	Verdict Verdict
}

// Verdict names the page that another page is a duplicate of. The zero value means that
// the page is not a duplicate.
type Verdict struct {
	ID, URL string
	// Distance is 0 if the texts are the same, else 1 to simhash.MaxDistance.
	Distance int
	// Own: both pages have the same registrable domain.
	Own bool
}

// Duplicate tells whether the page is a duplicate.
func (v Verdict) Duplicate() bool { return v.ID != "" }

// entry is what the index keeps of a page.
type entry struct {
	id, url string
	domain  uint64
	print   simhash.Fingerprint
	verdict Verdict
}

func entryOf(p Page) entry {
	return entry{id: p.ID, url: p.URL, domain: xxh3.HashString(p.Domain), print: p.Print, verdict: p.Verdict}
}

// representative tells whether other pages can be found to be nearly the same as e.
func (e entry) representative() bool {
	return !e.print.Min.Empty() && !(e.verdict.Duplicate() && e.verdict.Own)
}

// follower tells whether e is a follower, see the package's invariants: pages with exactly
// its SimHash are nearly the same as e, and further away from its representative.
func (e entry) follower() bool {
	return e.verdict.Duplicate() && e.verdict.Own && e.verdict.Distance > 1
}

// match is the best answer that a search has found so far.
type match struct {
	of       entry // the page that is judged
	verdict  Verdict
	original bool // the page is known, and it is not a duplicate
}

// settled tells whether no better answer exists.
func (m *match) settled() bool {
	return m.original || m.verdict.Duplicate() && m.verdict.Distance == 0 && m.verdict.Own
}

// consider compares the page with an earlier one. The same text is better than nearly the
// same text, then the same domain is better than another one, then a nearer page, then the
// page that was found first.
func (m *match) consider(e entry) {
	d, alike := m.of.print.Distance(e.print)
	if !alike || m.settled() {
		return
	}
	if e.id == m.of.id { // an earlier text of the page
		m.verdict, m.original = Verdict{}, true
		return
	}
	v, best := Verdict{ID: e.id, URL: e.url, Distance: d, Own: e.domain == m.of.domain}, m.verdict
	switch {
	case !best.Duplicate(),
		d == 0 && best.Distance > 0,
		(d == 0) == (best.Distance == 0) && v.Own && !best.Own,
		(d == 0) == (best.Distance == 0) && v.Own == best.Own && d < best.Distance:
		m.verdict = v
	}
}

// follows considers a follower if the page has its SimHash. Another page that is near to a
// follower does not count: see the package's invariants.
func (m *match) follows(e entry) {
	if e.print.Sim == m.of.print.Sim && e.id != m.of.id {
		m.consider(e)
	}
}

// maxLooks bounds how many representatives that share a band are looked at, the newest
// first. Only pages that very many domains have share a band with so many.
const maxLooks = 16 << 10

// search looks in the index for the page that a page is a duplicate of. A page that is
// known by the same id and text gets the answer that it got before.
func (s *store) search(p *partition, m *match) error {
	hash := m.of.print.Hash
	first, err := s.first(p, hash)
	if err != nil {
		return err
	}
	known := []*entry{first}
	if first != nil && first.domain != m.of.domain {
		own, err := s.entry(firstKey(p.number, hash, m.of.domain), hash)
		if err != nil {
			return err
		}
		known = append(known, own)
	}
	for _, e := range known {
		if e == nil {
			continue
		}
		if e.id == m.of.id {
			m.verdict, m.original = e.verdict, true
			return nil
		}
		m.consider(*e)
	}
	if m.verdict.Duplicate() || m.of.print.Min.Empty() {
		return nil
	}
	err = s.nearly(p, m)
	if err != nil || m.original || !m.verdict.Own || m.verdict.Distance < 2 {
		return err
	}
	e, err := s.follower(p.number, m.of.print.Sim, m.of.domain)
	if err == nil && e != nil {
		m.follows(*e)
	}
	return err
}

// nearly looks for representatives that are nearly the same: all of the page's own domain,
// and of the others the nearest one; of several, the oldest.
func (s *store) nearly(p *partition, m *match) (err error) {
	consider := func(number int) {
		e, failed := s.representative(p.number, number)
		if err = failed; err == nil {
			m.consider(*e)
		}
	}
	other, differing := -1, 0
	p.known.near.search(m.of.print.Min, maxLooks, func(number, d int, domain uint32) {
		if domain == uint32(m.of.domain) {
			if err == nil {
				consider(number)
			}
		} else if other < 0 || d < differing || d == differing && number < other {
			other, differing = number, d
		}
	})
	if err == nil && other >= 0 && !m.original && !m.verdict.Own {
		consider(other)
	}
	return err
}
