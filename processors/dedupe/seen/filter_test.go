package seen

import (
	"fmt"
	"testing"
)

func TestFilterNeverDenies(t *testing.T) {
	f := newFilter(16, 0.01)
	for n := range 10_000 {
		f.add(fingerprintOf(fmt.Sprint("http://a/", n)))
	}
	for n := range 10_000 {
		if !f.mayHave(fingerprintOf(fmt.Sprint("http://a/", n))) {
			t.Fatalf("denies URL %d of 10,000 in %d slices", n, len(f.slices))
		}
	}
}

// The rate must hold at every size, above all with many slices that are full.
func TestFilterRateStaysUnderTheStatedOne(t *testing.T) {
	const rate, asked = 0.01, 100_000
	f := newFilter(64, rate)
	added := 0
	for range 11 {
		for f.slices[len(f.slices)-1].left > 0 {
			f.add(fingerprintOf(fmt.Sprint("http://in/", added)))
			added++
		}
		wrong := 0
		for n := range asked {
			if f.mayHave(fingerprintOf(fmt.Sprint("http://out/", n))) {
				wrong++
			}
		}
		if got := float64(wrong) / asked; got > rate {
			t.Errorf("%d URLs in %d slices: false-positive rate %.4f over %.4f", added, len(f.slices), got, rate)
		}
		f.grow()
	}
}

func TestFilterRebuiltHasTheSameSize(t *testing.T) {
	grown, rebuilt := newFilter(16, 0.01), newFilter(16, 0.01)
	for n := range 1000 {
		grown.add(fingerprint{uint64(n), uint64(n)})
	}
	for n := range 1000 {
		rebuilt.add(fingerprint{uint64(999 - n), uint64(999 - n)})
	}
	if grown.bits() != rebuilt.bits() {
		t.Errorf("grown %d bits, rebuilt %d", grown.bits(), rebuilt.bits())
	}
}

func TestCacheHasOnlyWhatWasPut(t *testing.T) {
	c := newCache(4)
	if c.has(fingerprint{}) {
		t.Error("an empty place answers for the zero fingerprint")
	}
	a, b := fingerprint{1, 1}, fingerprint{5, 1} // one place in a cache of four
	c.put(a)
	if !c.has(a) || c.has(b) {
		t.Error("wrong answer after the first put")
	}
	c.put(b)
	if c.has(a) || !c.has(b) {
		t.Error("the second fingerprint did not evict the first")
	}
}
