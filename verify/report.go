package verify

import (
	"cmp"
	"slices"
	"time"
)

// Claim is what is proven or refuted.
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

// statements are the claims in words, with what is counted to show them.
var statements = []struct {
	claim        Claim
	states, unit string
}{
	{URLs, "every URL in scope that was found is known, once", "links"},
	{Journeys, "every known URL is in one place: held back in a trap, given up for another, queued, waiting for a retry, out, or settled", "URLs"},
	{Pages, "every page has its exchange, and every successful exchange its page", "pages"},
	{Delays, "no domain was asked faster than its delay, or more than it allows at once", "requests"},
	{Robots, "nothing was released before its robots.txt, or against it", "releases"},
	{Budgets, "depth, attempts, visits and sizes are within their limits", "events"},
	{Ledgers, "epochs, offsets and positions are consistent", "records"},
	{SiteLog, "the web server's own log shows the same", "requests"},
}

// Report is what was found. Its JSON is documented in docs/verify.md.
type Report struct {
	Crawl string `json:"crawl"`
	// Proven: no violation was found.
	Proven bool    `json:"proven"`
	TookMS int64   `json:"took_ms"`
	Proofs []Proof `json:"claims"`
	// Found counts all violations; Violations lists some of each kind.
	Found      int64       `json:"violations_found"`
	Violations []Violation `json:"violations"`
	// Notes are facts that are no violations: repeats, events of fenced owners.
	Notes []string `json:"notes"`
}

// Proof is what became of one claim.
type Proof struct {
	Claim  Claim  `json:"claim"`
	States string `json:"states"`
	// Shown counts what showed it, Unit says what that is.
	Shown int64  `json:"shown"`
	Unit  string `json:"unit"`
	// InTransit counts what a stage in between has not committed yet.
	InTransit int64 `json:"in_transit,omitempty"`
	// Violations counts what refutes it.
	Violations int64 `json:"violations"`
	// Unproven says what could not be judged.
	Unproven []string `json:"unproven,omitempty"`
}

// Violation is one thing that should not be.
type Violation struct {
	Claim Claim `json:"claim"`
	// Kind is a stable name: see the constants.
	Kind Kind `json:"kind"`
	// Says is the violation in a sentence.
	Says   string `json:"says"`
	Domain string `json:"domain,omitempty"`
	URL    string `json:"url,omitempty"`
	// Records and Lines show it, the one that is wrong first.
	Records []Record `json:"records,omitempty"`
	Lines   []Line   `json:"lines,omitempty"`

	// print is the URL's fingerprint where only that was at hand.
	print fingerprint
}

// Record names a record of a topic.
type Record struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	// Says is what the record says, as far as it matters.
	Says string `json:"says,omitempty"`
}

// Line names a line of an access log; lines count from 1.
type Line struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Says string `json:"says,omitempty"`
}

// findings collects what is shown and what is refuted.
type findings struct {
	begun    time.Time
	examples int
	proofs   map[Claim]*Proof
	kinds    map[Kind]int64
	listed   []Violation
	notes    []string
}

func newFindings(examples int) *findings {
	f := &findings{begun: time.Now(), examples: examples, proofs: map[Claim]*Proof{}, kinds: map[Kind]int64{}}
	for _, s := range statements {
		f.proofs[s.claim] = &Proof{Claim: s.claim, States: s.states, Unit: s.unit}
	}
	return f
}

// shown counts n things that show a claim.
func (f *findings) shown(c Claim, n int64) { f.proofs[c].Shown += n }

// transit counts something that is on its way.
func (f *findings) transit(c Claim, n int64) { f.proofs[c].InTransit += n }

// unproven notes, once, what a claim leaves out.
func (f *findings) unproven(c Claim, what string) {
	if p := f.proofs[c]; !slices.Contains(p.Unproven, what) {
		p.Unproven = append(p.Unproven, what)
	}
}

// violate books a violation and lists it, if it is one of the first.
func (f *findings) violate(v Violation) {
	v.Claim = v.Kind.claim()
	f.proofs[v.Claim].Violations++
	if f.kinds[v.Kind]++; f.kinds[v.Kind] <= int64(f.examples) {
		f.listed = append(f.listed, v)
	}
}

func (f *findings) note(text string) { f.notes = append(f.notes, text) }

// report sums up. Violations come in the order of the claims, those of one kind
// as they were found.
func (f *findings) report(crawl string, withLog bool) *Report {
	r := &Report{Crawl: crawl, Violations: f.listed, Notes: f.notes, TookMS: time.Since(f.begun).Milliseconds()}
	order := map[Claim]int{}
	for i, s := range statements {
		if s.claim == SiteLog && !withLog {
			continue
		}
		order[s.claim] = i
		r.Proofs = append(r.Proofs, *f.proofs[s.claim])
		r.Found += f.proofs[s.claim].Violations
	}
	r.Proven = r.Found == 0
	slices.SortStableFunc(r.Violations, func(a, b Violation) int {
		return cmp.Or(order[a.Claim]-order[b.Claim], cmp.Compare(a.Kind, b.Kind))
	})
	if r.Violations == nil {
		r.Violations = []Violation{}
	}
	if r.Notes == nil {
		r.Notes = []string{}
	}
	return r
}
