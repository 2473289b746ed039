package dedupe

// Looks counts which layer answered.
type Looks struct {
	Cache         int64 // seen, from the cache
	Filter        int64 // unseen, from the filter
	Store         int64 // seen, confirmed by the store
	FalsePositive int64 // unseen, although the filter said maybe
}

// Stats describe a Set for metrics and benchmarks.
type Stats struct {
	URLs       int64
	FilterBits int64
	Slices     int
	Looks      Looks // since Open
}

// BitsPerURL is the filter's memory over the URLs it holds; 0 when empty.
func (s Stats) BitsPerURL() float64 {
	if s.URLs == 0 {
		return 0
	}
	return float64(s.FilterBits) / float64(s.URLs)
}

// FalsePositiveRate is the measured share of unseen URLs that the filter could
// not tell; 0 before the first.
func (s Stats) FalsePositiveRate() float64 {
	unseen := s.Looks.Filter + s.Looks.FalsePositive
	if unseen == 0 {
		return 0
	}
	return float64(s.Looks.FalsePositive) / float64(unseen)
}

// Stats returns the present figures.
func (s *Set) Stats() Stats {
	return Stats{URLs: s.count, FilterBits: s.filter.bits(), Slices: len(s.filter.slices), Looks: s.looks}
}
