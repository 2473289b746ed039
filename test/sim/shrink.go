package sim

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Explain says everything about a case that violates an invariant: the smallest such
// case, and the last lines of its trace.
func Explain(c Case) string {
	small := Shrink(c, shrinkRuns)
	var lines []string
	r := Run(small, &lines)
	raw, err := json.MarshalIndent(small, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("sim: encode case: %v", err)) // a case is numbers and names
	}
	skip := max(0, len(lines)-shownLines)
	return fmt.Sprintf("seed %d: %v\nsmallest case: %s\n... %d lines, then\n%s",
		c.Seed, r.Violation, raw, skip, strings.Join(lines[skip:], "\n"))
}

const (
	shrinkRuns = 200
	shownLines = 120
)

// Shrink returns the smallest case that it finds to violate the same invariant
// as c, which must violate one: with fewer faults, sites, pages and processes.
// It runs up to so many cases.
func Shrink(c Case, runs int) Case {
	want := Run(c, nil).Violation.Kind
	for smaller := range smallerCases(c) {
		if runs--; runs <= 0 {
			break
		}
		if v := Run(smaller, nil).Violation; v != nil && v.Kind == want {
			return Shrink(smaller, runs)
		}
	}
	return c
}

// smallerCases are c without half of its faults, a quarter, …, or one of them; with
// half as many sites, pages or processes, or one less; and without a kind of site.
func smallerCases(c Case) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		for n := len(c.Faults); n > 0; n /= 2 {
			for from := 0; from+n <= len(c.Faults); from += n {
				smaller := c
				smaller.Faults = slices.Delete(slices.Clone(c.Faults), from, from+n)
				if !yield(smaller) {
					return
				}
			}
		}
		half := func(n *int) bool { *n /= 2; return *n > 0 }
		less := func(n *int) bool { *n--; return *n > 0 }
		for _, change := range []func(*Case) bool{
			func(c *Case) bool { had := c.Variants; c.Variants = false; return had },
			func(c *Case) bool { had := c.DNSFailures; c.DNSFailures = false; return had },
			func(c *Case) bool { return half(&c.Sites) }, func(c *Case) bool { return less(&c.Sites) },
			func(c *Case) bool { return half(&c.Pages) }, func(c *Case) bool { return less(&c.Pages) },
			func(c *Case) bool { return half(&c.Processes) }, func(c *Case) bool { return less(&c.Processes) },
		} {
			if smaller := c; change(&smaller) && !yield(smaller) {
				return
			}
		}
	}
}
