package duplicates

// match is the best that a search has found so far.
type match struct {
	of       entry // the page that is judged
	verdict  Verdict
	original bool // the page is known, and no duplicate
}

// settled tells whether nothing better can be found.
func (m *match) settled() bool {
	return m.original || m.verdict.Duplicate() && m.verdict.Distance == 0 && m.verdict.Own
}

// consider compares the page with an earlier one. The same text is better than
// nearly the same, then a page of the same domain, then one that is nearer, then
// one that was found before.
func (m *match) consider(e entry) {
	d, alike := m.of.print.Distance(e.print)
	if !alike || m.settled() {
		return
	}
	if e.id == m.of.id { // an earlier text of the page
		m.verdict, m.original = Verdict{}, true
		return
	}
	v, best := e.of(m.of, d), m.verdict
	switch {
	case !best.Duplicate(),
		d == 0 && best.Distance > 0,
		(d == 0) == (best.Distance == 0) && v.Own && !best.Own,
		(d == 0) == (best.Distance == 0) && v.Own == best.Own && d < best.Distance:
		m.verdict = v
	}
}

// follows considers a follower that the page has the SimHash of. What else is near
// to a follower is not near to it for that: see the package's invariants.
func (m *match) follows(e entry) {
	if e.print.Sim == m.of.print.Sim && e.id != m.of.id {
		m.consider(e)
	}
}

// search looks in the index for what a page is a duplicate of. A page that is
// known by the same id and text is answered as it was.
func (s *store) search(partition int32, k *known, m *match) error {
	hash := m.of.print.Hash
	first, err := s.first(partition, k, hash)
	if err != nil {
		return err
	}
	known := []*entry{first}
	if first != nil && first.domain != m.of.domain {
		own, err := s.get(firstKey(partition, hash, m.of.domain), hash)
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
	err = s.nearly(partition, k, m)
	if err != nil || m.original || !m.verdict.Own || m.verdict.Distance < 2 {
		return err
	}
	e, err := s.follower(partition, m.of.print.Sim, m.of.domain)
	if err == nil && e != nil {
		m.follows(*e)
	}
	return err
}

// nearly looks for representatives that are nearly the same: all of those of the
// page's own domain, and of the others the nearest, and the oldest of these.
func (s *store) nearly(partition int32, k *known, m *match) (err error) {
	other, differing := -1, 0
	k.near.search(m.of.print.Min, s.options.MaxLooks, func(number, d int, domain uint32) {
		if domain == uint32(m.of.domain) {
			if err == nil {
				err = s.considerNumber(partition, number, m)
			}
		} else if other < 0 || d < differing || d == differing && number < other {
			other, differing = number, d
		}
	})
	if err == nil && other >= 0 && !m.original && !m.verdict.Own {
		err = s.considerNumber(partition, other, m)
	}
	return err
}

// considerNumber considers the representative of a number.
func (s *store) considerNumber(partition int32, number int, m *match) error {
	e, err := s.representative(partition, number)
	if err == nil {
		m.consider(*e)
	}
	return err
}
