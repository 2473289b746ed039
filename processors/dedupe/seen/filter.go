package seen

import "github.com/bits-and-blooms/bloom/v3"

// tightening is the ratio of the false-positive rates of a slice and the one
// before it; 0.8 to 0.9 is recommended for slices that double (Almeida et al.,
// below, section 4.1).
const tightening = 0.85

// filter is a scalable Bloom filter: P. S. Almeida, C. Baquero, N. Preguiça,
// D. Hutchison, "Scalable Bloom Filters", Information Processing Letters 101
// (2007). Slice i holds first·2ⁱ URLs at rate₀·tighteningⁱ; with
// rate₀ = rate·(1 − tightening) the rates of all slices add up to less than
// rate, however many there are.
type filter struct {
	slices []slice // the last one is being filled
	next   struct {
		capacity uint
		rate     float64
	}
	locations []uint64 // scratch, as long as the longest slice needs
}

type slice struct {
	bits *bloom.BloomFilter
	left uint // URLs that may still be added
}

func newFilter(firstCapacity int, rate float64) filter {
	f := filter{}
	f.next.capacity = uint(firstCapacity)
	f.next.rate = rate * (1 - tightening)
	f.grow()
	return f
}

func (f *filter) grow() {
	bits := bloom.NewWithEstimates(f.next.capacity, f.next.rate)
	f.slices = append(f.slices, slice{bits: bits, left: f.next.capacity})
	f.locations = make([]uint64, bits.K()) // rates only fall, so k only grows
	f.next.capacity *= 2
	f.next.rate *= tightening
}

// locate derives the bit locations from the two halves of the fingerprint, as
// in A. Kirsch, M. Mitzenmacher, "Less Hashing, Same Performance" (2006): the
// URL is hashed once for the filter and the exact set.
func (f *filter) locate(fp fingerprint) {
	at, step := fp.lo, fp.hi|1
	for i := range f.locations {
		f.locations[i] = at
		at += step
	}
}

func (f *filter) mayHave(fp fingerprint) bool {
	f.locate(fp)
	// The newest slice is the largest and holds the most.
	for i := len(f.slices) - 1; i >= 0; i-- {
		bits := f.slices[i].bits
		if bits.TestLocations(f.locations[:bits.K()]) {
			return true
		}
	}
	return false
}

// add must be called once for each fingerprint, or slices fill up early.
func (f *filter) add(fp fingerprint) {
	last := &f.slices[len(f.slices)-1]
	if last.left == 0 {
		f.grow()
		last = &f.slices[len(f.slices)-1]
	}
	f.locate(fp)
	set, m := last.bits.BitSet(), uint64(last.bits.Cap())
	for _, location := range f.locations {
		set.Set(uint(location % m))
	}
	last.left--
}

// bits is the memory that the slices take.
func (f *filter) bits() int64 {
	total := int64(0)
	for _, s := range f.slices {
		total += int64(s.bits.Cap())
	}
	return total
}
