package topics

import (
	"fmt"
	"slices"
)

// Stage is the name of a consumer of the loop.
type Stage string

// The stages, in the order of the loop, and the writers of files behind it.
const (
	Normalize Stage = "normalize"
	Dedupe    Stage = "dedupe"
	Schedule  Stage = "schedule"
	Fetch     Stage = "fetch"
	Parse     Stage = "parse"
	// Pages writes the records of parsed to files.
	Pages Stage = "pages"
	// Archive writes the records of fetched and the metadata of parsed to WARC files, if the
	// crawl has an archive.
	Archive Stage = "archive"
	// FormerWARC did that in weft crawl of earlier versions. Its name is in rejected, in
	// exports, and in the name of a group.
	FormerWARC Stage = "warc"
)

// Kind says how a stage keeps what it knows.
type Kind int

const (
	// Worker keeps nothing: a consumer group that commits an input when everything
	// that it wrote because of it is acknowledged.
	Worker Kind = iota + 1
	// Ledger is a goka processor. Its state is the fold of its first output.
	Ledger
	// Follower folds a ledger of another stage, and does what it decides.
	Follower
	// Archiver is a consumer group that writes files, behind the loop. A crawl need not
	// have it.
	Archiver
	// Sink writes files of weft crawl. It is not a consumer group.
	Sink
)

// Step is one row of the loop: a stage with the topics that it reads and writes.
// Topics have their full names.
type Step struct {
	Stage Stage
	Kind  Kind
	// Inputs are consumed. Outputs are written because of them; the output of a ledger is the
	// first.
	Inputs, Outputs []string
	// Looks are topics that the stage reads without consuming them.
	Looks []string
}

// Rejects tells whether the stage writes records that it cannot use to the topic rejected. A
// follower reads only a ledger, in which every record must be good.
func (s Step) Rejects() bool { return s.Kind != Follower }

// Steps returns the loop as a table, in its order, and the writers of files behind
// it. Everything that depends on which stage reads or writes what derives from it:
// groups, lags, rights, the janitor, the status, the simulation. Package processors
// says how each stage is run.
func (n Names) Steps() []Step {
	return []Step{
		{
			Stage: Normalize, Kind: Worker,
			Inputs: []string{n.Seeds, n.Discovered}, Outputs: []string{n.Normalized},
			Looks: []string{n.Scheduled}, // the gauges of the crawl, for the metrics
		},
		{
			Stage: Dedupe, Kind: Ledger,
			Inputs: []string{n.Normalized}, Outputs: []string{n.Deduped},
			Looks: []string{n.Deduped, n.Scheduled},
		},
		{
			Stage: Schedule, Kind: Ledger,
			Inputs: []string{n.Deduped, n.Visited}, Outputs: []string{n.Scheduled},
			Looks: []string{n.Scheduled},
		},
		{
			Stage: Fetch, Kind: Follower,
			Inputs: []string{n.Scheduled}, Outputs: []string{n.Fetched, n.Visited},
			Looks: []string{n.Fetched}, // what a former owner fetched and did not report
		},
		{
			Stage: Parse, Kind: Worker,
			Inputs: []string{n.Fetched}, Outputs: []string{n.Parsed, n.Discovered},
			Looks: []string{
				n.Parsed,   // the pages that others may be duplicates of
				n.Rejected, // which large bodies may be asked for again
				n.Scheduled,
			},
		},
		{Stage: Pages, Kind: Sink, Inputs: []string{n.Parsed}},
		{Stage: Archive, Kind: Archiver, Inputs: []string{n.Fetched, n.Parsed}},
	}
}

// step returns the row of a stage. It panics if there is none.
func (n Names) step(s Stage) Step {
	steps := n.Steps()
	i := slices.IndexFunc(steps, func(step Step) bool { return step.Stage == s })
	if i < 0 {
		panic(fmt.Sprintf("topics: no stage %q", s))
	}
	return steps[i]
}

// KindOf returns the kind of a stage. It panics if there is no such stage.
func KindOf(s Stage) Kind { return Loop(DefaultCrawl).step(s).Kind }

// Inputs returns the topics that a stage consumes.
func (n Names) Inputs(s Stage) []string { return n.step(s).Inputs }

// Stages are the stages of the loop itself, in its order.
func Stages() []Stage { return StagesOf(Worker, Ledger, Follower) }

// Groups are the stages that are consumer groups, in a crawl that has all of them.
func Groups() []Stage { return StagesOf(Worker, Ledger, Follower, Archiver) }

// Stages are the stages of a crawl: archive is one of them if the crawl has an archive.
func (d Definition) Stages() []Stage {
	if d.Archive == "" {
		return Stages()
	}
	return Groups()
}

// StagesOf are the stages of these kinds, in the order of the loop.
func StagesOf(kinds ...Kind) (stages []Stage) {
	for _, s := range Loop(DefaultCrawl).Steps() {
		if slices.Contains(kinds, s.Kind) {
			stages = append(stages, s.Stage)
		}
	}
	return stages
}
