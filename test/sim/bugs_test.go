package sim

import "testing"

// within how many seeds each planted bug is found; most take a few.
const within = 4000

// rare are seeds shortly before the first one that finds a bug, for bugs that few seeds find,
// or that take long to find. A search from 1 on finds them too, and takes minutes.
var rare = map[Bug]uint64{
	"backlog-ignored": 32, "drain-ends-first": 28, "drain-without-before": 4000, "holes-ignored": 200, "lease-from-answer": 720, "lease-unchecked": 250, "marks-jump": 175,
	"no-takeover-pause": 50, "outage-for-pages": 125, "pages-forgotten": 40, "recalls-ignored": 225, "report-early": 20, "silence-untold": 4060, "stop-cuts": 50,
	"throttled-unpaced": 1550, "worker-commits-early": 165,
}

// plain are bugs that are looked for in plain cases, because too few of the others find them.
var plain = map[Bug]bool{"drain-without-before": true}

// Each planted bug is found. TestSeeds shows that without it nothing is.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some thousand cases")
	}
	for _, bug := range Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			first := max(rare[bug], 1)
			for seed := first; seed < first+within; seed++ {
				c := NewCase(seed)
				if plain[bug] {
					c = plainCase(seed)
				}
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
