package sim

import "testing"

// within how many seeds each planted bug is found; most take a few.
const within = 4000

// Each planted bug is found. TestSeeds shows that without it nothing is.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some thousand cases")
	}
	for _, bug := range Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			for seed := uint64(1); seed <= within; seed++ {
				c := NewCase(seed)
				c.Bug = bug
				if v := Run(c, nil).Violation; v != nil {
					t.Logf("seed %d: %v", seed, v)
					return
				}
			}
			t.Errorf("not found within %d seeds", within)
		})
	}
}
