package politeness

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// TestTurns holds the round of priorities to the smooth weighted round robin
// that it is: in every step each gains its weight, and the richest pays.
func TestTurns(t *testing.T) {
	weights := [Priorities]int{8, 4, 2, 1}
	var rich [Priorities]int
	for i, got := range turns {
		best := 0
		for p, w := range weights {
			if rich[p] += w; rich[p] > rich[best] {
				best = p
			}
		}
		rich[best] -= len(turns)
		if int(got) != best {
			t.Errorf("turn %d serves %d, want %d", i, got, best)
		}
	}
}

func TestServe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full := rapid.SliceOfN(rapid.Bool(), Priorities, Priorities).Draw(t, "full")
		turn := rapid.Uint32Range(0, 40).Draw(t, "turn")
		served := map[int]bool{}
		for range len(turns) {
			p, next, ok := Serve(turn, func(p int) bool { return full[p] })
			if ok != slices.Contains(full, true) {
				t.Fatalf("served: %v of %v", ok, full)
			}
			if !ok {
				return
			}
			if !full[p] {
				t.Fatalf("served %d, which is empty", p)
			}
			served[p], turn = true, next
		}
		for p := range Priorities {
			if full[p] && !served[p] {
				t.Fatalf("%d was not served in a round", p)
			}
		}
	})
}

func TestAsked(t *testing.T) {
	for own := range Priorities {
		if p := Asked(weftpb.DomainSetting_PRIORITY_UNSPECIFIED, own); p != own {
			t.Errorf("without a word of people %d becomes %d", own, p)
		}
		if high, low := Asked(weftpb.DomainSetting_PRIORITY_HIGH, own), Asked(weftpb.DomainSetting_PRIORITY_LOW, own); high != 0 || low != 3 {
			t.Errorf("%d becomes %d when people ask for high, %d for low", own, high, low)
		}
	}
}
