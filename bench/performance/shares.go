package performance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Share is a part of the processor time of a crawl.
type Share struct {
	Name string
	// Part of all, between 0 and 1.
	Part float64
}

// group is code with one name. Functions belong to it by the beginning of their full
// names.
type group struct {
	name      string
	functions []string
}

const weftModule = "github.com/weftcrawl/weft/"

// groups: a sample belongs to the group of the innermost of its functions that has
// one. So what a stage calls belongs to the stage, except for the Kafka client, the
// local store and the garbage collector.
var groups = []group{
	{"garbage collector", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart", "runtime.gcMarkDone", "runtime.gcMarkTermination"}},
	{"parse", []string{weftModule + "processors/parse"}},
	{"fetch, with net/http", []string{weftModule + "processors/fetch", "net/http.(*persistConn)", "net/http.(*Transport)"}},
	{"normalize", []string{weftModule + "processors/normalize"}},
	{"dedupe", []string{weftModule + "processors/dedupe"}},
	{"schedule", []string{weftModule + "processors/schedule"}},
	{"archive and pages", []string{weftModule + "processors/archive"}},
	{"ledger", []string{weftModule + "ledger", "github.com/lovoo/goka", "github.com/IBM/sarama"}},
	{"local stores (Pebble)", []string{"github.com/cockroachdb/pebble"}},
	{"embedded broker", []string{weftModule + "internal/broker", "github.com/twmb/franz-go/pkg/kfake"}},
	{"Kafka client", []string{weftModule + "internal/kafka", "github.com/twmb/franz-go/pkg/kgo"}},
}

// rest are the groups of samples without any of the others.
var rest = []group{
	{"other parts of Weft", []string{weftModule, "main."}},
	{"Go's scheduler and timers", []string{"runtime.mcall", "runtime.mstart", "runtime.schedule", "runtime.findRunnable", "runtime.sysmon", "runtime.morestack"}},
}

// Shares divides the processor time of a profile, the largest share first.
func Shares(p *profile.Profile) ([]Share, error) {
	value := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "cpu" })
	if value < 0 {
		return nil, fmt.Errorf("this is no CPU profile: it has %v", p.SampleType)
	}
	sums, total := map[string]float64{}, 0.0
	for _, s := range p.Sample {
		took := float64(s.Value[value])
		sums[groupOf(functions(s))] += took
		total += took
	}
	var all []Share
	for name, sum := range sums {
		all = append(all, Share{name, sum / total})
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// functions of a sample from the innermost to the outermost.
func functions(s *profile.Sample) (names []string) {
	for _, location := range s.Location {
		for _, line := range location.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}

func groupOf(functions []string) string {
	for _, some := range [][]group{groups, rest} {
		for _, function := range functions {
			for _, g := range some {
				if slices.ContainsFunc(g.functions, func(start string) bool { return strings.HasPrefix(function, start) }) {
					return g.name
				}
			}
		}
	}
	return "other"
}

// ShareTable is a Markdown table of shares, of a program that takes so many µs a page.
func ShareTable(all []Share, cpuPerPage float64) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| where | share of CPU | µs a page |")
	fmt.Fprintln(&b, "|---|--:|--:|")
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %.1f %% | %s |\n", s.Name, 100*s.Part, whole(s.Part*cpuPerPage))
	}
	return b.String()
}
