package duplicates

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// A search finds, once each, exactly what a look at all finds that agrees in a band.
// That is everything with fewer differing bins than there are bands.
func TestNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		flip := func(hash simhash.MinHash) simhash.MinHash {
			for range r.IntN(simhash.MaxDiffering + 3) {
				hash[r.IntN(2)] ^= 1 << r.IntN(simhash.Bins)
			}
			return hash
		}
		centre := simhash.MinHash{r.Uint64(), r.Uint64()}
		var n near
		want := map[int]int{}
		for i := range rapid.SampledFrom([]int{0, 1, 500, 3000}).Draw(t, "others") {
			hash := simhash.MinHash{r.Uint64(), r.Uint64()}
			if r.IntN(4) == 0 {
				hash = flip(centre)
			}
			n.add(hash, uint64(i))
			shares := false
			for band := range bands {
				of := func(h simhash.MinHash) [2]byte { return [2]byte{byte(h[0] >> (8 * band)), byte(h[1] >> (8 * band))} }
				shares = shares || of(hash) == of(centre)
			}
			d := bits.OnesCount64(hash.Differing(centre))
			if d < bands && !shares {
				t.Fatalf("%d bins differ, and no band is the same", d)
			}
			if d <= simhash.MaxDiffering && shares {
				want[i] = d
			}
		}
		n.search(centre, len(n.mins), func(number, differing int, domain uint32) {
			if d, ok := want[number]; !ok || d != differing || int(domain) != number {
				t.Fatalf("%d in %d bins of %d, want %d, %v", number, differing, domain, d, ok)
			}
			delete(want, number)
		})
		if len(want) > 0 {
			t.Fatalf("not found: %v", want)
		}
	})
}

// However many share a band, a search ends.
func TestMaxLooks(t *testing.T) {
	var n near
	for i := range 1000 {
		n.add(simhash.MinHash{42}, uint64(i))
	}
	found := 0
	n.search(simhash.MinHash{42}, 10, func(int, int, uint32) { found++ })
	if found != 10 {
		t.Errorf("%d looked at", found)
	}
}
