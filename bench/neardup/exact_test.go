package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShingles(t *testing.T) {
	for _, c := range []struct {
		text    string
		numbers bool
		words   []string
		runs    int
	}{
		{"", false, nil, 0},
		{"One, two", false, []string{"one", "two"}, 1},
		{"a b c d", false, []string{"a", "b", "c", "d"}, 1},
		{"a b c d e a b c d", false, []string{"a", "b", "c", "d", "e", "a", "b", "c", "d"}, 5},
		{"type f32 is 4 bytes", false, []string{"type", "f32", "is", "bytes"}, 1},
		{"type f32 is 4 bytes", true, []string{"type", "f32", "is", "4", "bytes"}, 2},
		{"日本語text", false, []string{"日", "本", "語", "text"}, 1},
	} {
		if d := cmp.Diff(c.words, wordsOf(c.text, c.numbers)); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
		if got := len(shingles(c.text, c.numbers)); got != c.runs {
			t.Errorf("%q has %d runs, want %d", c.text, got, c.runs)
		}
	}
	if j := jaccard([]uint64{1, 2, 3}, []uint64{2, 3, 4, 5}); math.Abs(j-0.4) > rounding {
		t.Errorf("%v", j)
	}
}

// The pairs are those that a look at all of them finds.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	sets := make([][]uint64, 300)
	for i := range sets {
		for range r.IntN(40) {
			sets[i] = append(sets[i], r.Uint64N(60))
		}
		if i > 0 && r.IntN(2) == 0 {
			sets[i] = slices.Clone(sets[r.IntN(i)])
			sets[i] = append(sets[i], r.Uint64N(60))
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	for _, least := range []float64{0.5, 0.8, 0.9, 1} {
		want, got := map[string]float64{}, map[string]float64{}
		for later := range sets {
			for earlier := range later {
				if j := jaccard(sets[earlier], sets[later]); j >= least {
					want[fmt.Sprint(earlier, later)] = j
				}
			}
		}
		pairs(sets, least, func(earlier, later int, j float64) { got[fmt.Sprint(earlier, later)] = j })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("from %v on: %s", least, d)
		}
		if len(want) < 20 {
			t.Errorf("only %d pairs from %v on", len(want), least)
		}
	}
}
