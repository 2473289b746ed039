package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Result is what became of a case.
type Result struct {
	// Violation is the first one; nil: every invariant held.
	Violation *Violation
	// Took is the virtual time until the end, Sum of the order of events.
	Took time.Duration
	Sum  uint64
	// Requests that the web was asked, and Counts of what happened.
	Requests int
	Counts   map[string]int
}

// Run runs a case. trace gets a line for everything that matters; nil: none.
func Run(c Case, trace *[]string) Result {
	w := newWorld(c, trace)
	w.run()
	return Result{Violation: w.violated, Took: w.now, Sum: w.sum, Requests: len(w.web.log), Counts: w.counts}
}

// Explain says everything about a case that violates an invariant: the case,
// made small, and the last lines of its trace.
func Explain(c Case) string {
	small := Shrink(c, shrinkRuns)
	var lines []string
	r := Run(small, &lines)
	raw, err := json.MarshalIndent(small, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("sim: encode case: %v", err)) // it holds numbers and names
	}
	skip := max(0, len(lines)-traceLines)
	return fmt.Sprintf("seed %d: %v\nsmallest case: %s\n... %d lines, then\n%s",
		c.Seed, r.Violation, raw, skip, strings.Join(lines[skip:], "\n"))
}

const (
	shrinkRuns = 200
	traceLines = 120
)
