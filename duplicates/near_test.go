package duplicates

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/similar"
)

// A search finds exactly what a look at all finds, once each.
func TestNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		flip := func(sim uint64) uint64 {
			for range r.IntN(6) {
				sim ^= 1 << r.IntN(64)
			}
			return sim
		}
		centre := r.Uint64()
		var n near
		want := map[int]int{}
		for i := range rapid.SampledFrom([]int{0, 1, 500, 3000}).Draw(t, "others") {
			sim := r.Uint64()
			if r.IntN(4) == 0 {
				sim = flip(centre)
			}
			n.add(sim, uint64(i))
			if d := similar.Bits(sim, centre); d <= similar.MaxDistance {
				want[i] = d
			}
		}
		n.search(centre, len(n.sims), func(number, distance int, domain uint32) {
			if d, ok := want[number]; !ok || d != distance || int(domain) != number {
				t.Fatalf("%d at %d of %d, want %d, %v", number, distance, domain, d, ok)
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
		n.add(42, uint64(i))
	}
	found := 0
	n.search(42, 10, func(int, int, uint32) { found++ })
	if found != 10 {
		t.Errorf("%d looked at", found)
	}
}
