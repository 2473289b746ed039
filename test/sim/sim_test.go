package sim

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var (
	seeds  = flag.Int("seeds", 0, "how many seeds TestSeeds runs; 0: a fixed number")
	first  = flag.Uint64("first", 1, "the first of them")
	update = flag.Bool("update", false, "store failing seeds, made small, in testdata")
)

// Whatever the seed, every invariant holds.
func TestSeeds(t *testing.T) {
	n := *seeds
	switch {
	case n > 0:
	case testing.Short():
		n = 50
	default:
		n = 800
	}
	var virtual time.Duration
	var requests, failed int
	for seed := *first; seed < *first+uint64(n) && failed < 3; seed++ {
		c := NewCase(seed)
		r := Run(c, nil)
		virtual += r.Took
		requests += r.Requests
		if r.Violation == nil {
			continue
		}
		failed++
		t.Error(Explain(c))
		if *update {
			store(t, c, r.Violation.Kind)
		}
	}
	t.Logf("%d seeds, %v of virtual time, %d requests", n, virtual.Round(time.Second), requests)
}

// store makes a case a golden one.
func store(t *testing.T, c Case, kind string) {
	t.Helper()
	c = Shrink(c, shrinkRuns)
	c.Finds = kind
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("testdata", fmt.Sprintf("%s-%d.json", kind, c.Seed))
	if err := os.WriteFile(name, append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Log("stored", name)
}

// Cases that once found something find nothing any more.
func TestGoldenCases(t *testing.T) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden cases: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var c Case
			if err := json.Unmarshal(raw, &c); err != nil {
				t.Fatal(err)
			}
			if r := Run(c, nil); r.Violation != nil {
				t.Errorf("it finds %v", r.Violation)
			}
		})
	}
}

// The same case is the same run, event by event.
func TestRunsAreDeterministic(t *testing.T) {
	n := uint64(40)
	if testing.Short() {
		n = 5
	}
	for seed := uint64(1); seed <= n; seed++ {
		var one, two []string
		a, b := Run(NewCase(seed), &one), Run(NewCase(seed), &two)
		if a.Sum != b.Sum || !slices.Equal(one, two) {
			for i := range one {
				if i >= len(two) || one[i] != two[i] {
					t.Fatalf("seed %d differs at line %d:\n%s\n%s", seed, i, one[i], two[min(i, len(two)-1)])
				}
			}
			t.Fatalf("seed %d: %d and %d lines, sums %x and %x", seed, len(one), len(two), a.Sum, b.Sum)
		}
	}
}

// A case that fails is made small, and still fails for the same reason.
func TestShrink(t *testing.T) {
	c := NewCase(1)
	c.Bug = "no-robots"
	for Run(c, nil).Violation == nil {
		c = NewCase(c.Seed + 1)
		c.Bug = "no-robots"
	}
	small := Shrink(c, 100)
	v := Run(small, nil).Violation
	if v == nil || v.Kind != "robots" || size(small) > 8 || len(small.Faults) > 0 {
		t.Errorf("made %+v, which finds %v", small, v)
	}
}

// size is what shrinking makes smaller.
func size(c Case) int { return len(c.Faults) + c.Sites + c.Pages + c.Processes }
