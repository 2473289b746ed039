package duplicates

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weftcrawl/weft/similar"
)

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

// search looks in the index for what a page is a duplicate of. A page that is
// known by the same id and text is answered as it was.
func (s *store) search(partition int32, m *match) error {
	hash := m.of.print.Hash
	first, err := s.get(hashKey(partition, hash), hash)
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
	if m.verdict.Duplicate() || m.of.print.Sim == 0 {
		return nil
	}
	return s.near(partition, m)
}

// near looks for representatives that are nearly the same.
func (s *store) near(partition int32, m *match) (err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: kindKey(partition, kindBand), UpperBound: after(kindKey(partition, kindBand)),
	})
	if err != nil {
		return fmt.Errorf("search index of duplicates: %w", err)
	}
	defer func() {
		if closing := it.Close(); err == nil && closing != nil {
			err = fmt.Errorf("search index of duplicates: %w", closing)
		}
	}()
	for band := range bands {
		key := bandKey(partition, band, m.of.print.Sim, m.of.domain)
		all, err := s.scan(partition, it, band, key[:sharedBytes], s.options.MaxOthers, m)
		if err == nil && !all {
			_, err = s.scan(partition, it, band, key[:ownBytes], int(^uint(0)>>1), m)
		}
		if err != nil || m.settled() {
			return err
		}
	}
	return nil
}

// scan considers the representatives under prefix, at most so many, and tells
// whether that is all of them.
func (s *store) scan(partition int32, it *pebble.Iterator, band int, prefix []byte, most int, m *match) (all bool, err error) {
	end := string(after(prefix))
	for ok := it.SeekGE(prefix); ok && string(it.Key()) < end; ok = it.Next() {
		if most--; most < 0 {
			return false, nil
		}
		if len(it.Key()) != bandKeySize || similar.Bits(simOf(it.Key(), band), m.of.print.Sim) > similar.MaxDistance {
			continue
		}
		e, err := s.refer(partition, it.Value())
		if err != nil {
			return false, err
		}
		m.consider(*e)
	}
	return true, nil
}

// refer returns the entry under a key that is kept without its partition.
func (s *store) refer(partition int32, reference []byte) (*entry, error) {
	var hash similar.Hash
	if len(reference) < 1+len(hash) {
		return nil, errEntry
	}
	copy(hash[:], reference[1:])
	key := append(kindKey(partition, reference[0]), reference[1:]...)
	e, err := s.get(key, hash)
	if err == nil && e == nil {
		err = errEntry
	}
	return e, err
}
