package seen

import "fmt"

// Options size the layers of a Set. The zero value does not validate; start
// from [DefaultOptions].
type Options struct {
	// FalsePositiveRate is the bound of the filter as a whole, in (0, 1).
	FalsePositiveRate float64
	// FirstCapacity is the number of URLs that the filter's first slice holds;
	// each further slice holds twice as many as the one before.
	FirstCapacity int
	// CacheEntries is the size of the cache, a power of two; an entry takes 16
	// bytes.
	CacheEntries int
}

// DefaultOptions returns a false-positive rate of 1 %, a first slice of 65,536
// URLs, and a cache of 65,536 entries (1 MiB).
func DefaultOptions() Options {
	return Options{FalsePositiveRate: 0.01, FirstCapacity: 1 << 16, CacheEntries: 1 << 16}
}

// Validate names the first option that is out of bounds.
func (o Options) Validate() error {
	if !(o.FalsePositiveRate > 0 && o.FalsePositiveRate < 1) {
		return fmt.Errorf("false-positive rate %v is not between 0 and 1", o.FalsePositiveRate)
	}
	if o.FirstCapacity < 1 {
		return fmt.Errorf("first capacity %d is not positive", o.FirstCapacity)
	}
	if o.CacheEntries < 1 || o.CacheEntries&(o.CacheEntries-1) != 0 {
		return fmt.Errorf("cache entries %d is not a power of two", o.CacheEntries)
	}
	return nil
}
