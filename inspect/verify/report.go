package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Claim is a statement that is proven or refuted.
type Claim string

// The claims, in the order of a Report.
const (
	URLs     Claim = "urls"
	Journeys Claim = "journeys"
	Pages    Claim = "pages"
	Delays   Claim = "delays"
	Robots   Claim = "robots"
	Budgets  Claim = "budgets"
	Ledgers  Claim = "ledgers"
	SiteLog  Claim = "access_log"
)

// statements are the claims in words, with the unit of what shows them.
var statements = []struct {
	claim        Claim
	states, unit string
}{
	{URLs, "every URL in scope that was found is known, once", "links"},
	{Journeys, "every known URL is in one place: held back in a trap, given up for another, queued, waiting for a retry, out, or settled", "URLs"},
	{Pages, "every page has its exchange, and every successful exchange its page", "pages"},
	{Delays, "no domain and no address was asked faster than its delay, or more than it allows at once", "requests"},
	{Robots, "nothing was released before its robots.txt, or against it", "releases"},
	{Budgets, "depth, attempts, visits and sizes are within their limits", "events"},
	{Ledgers, "epochs, offsets and positions are consistent", "records"},
	{SiteLog, "the web server's own log shows the same", "requests"},
}

// Report is the result for a crawl. docs/verify.md documents its JSON.
type Report struct {
	Crawl string `json:"crawl"`
	// Proven: no violation was found.
	Proven bool    `json:"proven"`
	TookMS int64   `json:"took_ms"`
	Proofs []Proof `json:"claims"`
	// Found counts all violations; Violations lists some of each kind.
	Found      int64       `json:"violations_found"`
	Violations []Violation `json:"violations"`
	// Notes are facts that are not violations: repeats, events of fenced owners.
	Notes []string `json:"notes"`
}

// Proof is the result for one claim.
type Proof struct {
	Claim  Claim  `json:"claim"`
	States string `json:"states"`
	// Shown counts the things that show it; Unit names them.
	Shown int64  `json:"shown"`
	Unit  string `json:"unit"`
	// InTransit counts things that a stage in between has not committed yet.
	InTransit int64 `json:"in_transit,omitempty"`
	// Violations counts what refutes it.
	Violations int64 `json:"violations"`
	// Unproven says what could not be judged.
	Unproven []string `json:"unproven,omitempty"`
}

// Violation is one fact that refutes a claim.
type Violation struct {
	Claim Claim `json:"claim"`
	// Kind is one of the constants.
	Kind Kind `json:"kind"`
	// Says is the violation in a sentence.
	Says   string `json:"says"`
	Domain string `json:"domain,omitempty"`
	URL    string `json:"url,omitempty"`
	// Records and Lines show it; the wrong one is first.
	Records []RecordRef `json:"records,omitempty"`
	Lines   []Line      `json:"lines,omitempty"`

	// print is the URL's fingerprint, if only that is known.
	print fingerprint
}

// RecordRef names a record of a topic.
type RecordRef struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	// Says is the relevant content of the record.
	Says string `json:"says,omitempty"`
}

// Line names a line of an access log; lines count from 1.
type Line struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Says string `json:"says,omitempty"`
}

// outcome collects what is proven and what is refuted.
type outcome struct {
	Report
	begun    time.Time
	examples int
	proofs   map[Claim]*Proof
	kinds    map[Kind]int64
	counts   recordCounts
}

func newOutcome(o Options) *outcome {
	all := &outcome{
		Report: Report{Crawl: o.Crawl, Violations: []Violation{}, Notes: []string{}},
		begun:  time.Now(), examples: o.Examples, proofs: map[Claim]*Proof{}, kinds: map[Kind]int64{},
	}
	for _, s := range statements {
		all.proofs[s.claim] = &Proof{Claim: s.claim, States: s.states, Unit: s.unit}
	}
	return all
}

func (o *outcome) shown(c Claim, n int64) { o.proofs[c].Shown += n }

func (o *outcome) transit(c Claim, n int64) { o.proofs[c].InTransit += n }

// unproven notes, once, a part of the claim that cannot be judged.
func (o *outcome) unproven(c Claim, what string) {
	if p := o.proofs[c]; !slices.Contains(p.Unproven, what) {
		p.Unproven = append(p.Unproven, what)
	}
}

// violate counts a violation, and lists the first ones of each kind.
func (o *outcome) violate(v Violation) {
	v.Claim = claimOf[v.Kind]
	o.proofs[v.Claim].Violations++
	if o.kinds[v.Kind]++; o.kinds[v.Kind] <= int64(o.examples) {
		o.Violations = append(o.Violations, v)
	}
}

func (o *outcome) note(format string, args ...any) {
	o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
}

// noteAny notes how many there are, if there are any.
func (o *outcome) noteAny(n int64, format string, args ...any) {
	if n > 0 {
		o.note(format, append([]any{n}, args...)...)
	}
}

// report sums up. Violations are in the order of the claims, and violations of one kind in the
// order in which they were found.
func (o *outcome) report(withLog bool) *Report {
	order := map[Claim]int{}
	for i, s := range statements {
		if s.claim == SiteLog && !withLog {
			continue
		}
		order[s.claim] = i
		o.Proofs = append(o.Proofs, *o.proofs[s.claim])
		o.Found += o.proofs[s.claim].Violations
	}
	o.Proven, o.TookMS = o.Found == 0, time.Since(o.begun).Milliseconds()
	slices.SortStableFunc(o.Violations, func(a, b Violation) int {
		return cmp.Or(order[a.Claim]-order[b.Claim], cmp.Compare(a.Kind, b.Kind))
	})
	return &o.Report
}
