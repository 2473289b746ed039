package verify

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/progress"
)

// WriteText writes the report as text: a line for each claim, then the violations.
func (r *Report) WriteText(to io.Writer) error {
	verdict := "proven"
	if !r.Proven {
		verdict = fmt.Sprintf("refuted by %d violations", r.Found)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "crawl %s: %s, in %v\n", r.Crawl, verdict, (time.Duration(r.TookMS) * time.Millisecond).Round(time.Millisecond))
	table := progress.NewTable(&b)
	for _, p := range r.Proofs {
		table.Row("  "+string(p.Claim), p.mark(), p.States, p.counts())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	r.writeDetails(&b)
	_, err := io.WriteString(to, b.String())
	return err
}

// writeDetails writes what the lines of the claims do not say.
func (r *Report) writeDetails(to *strings.Builder) {
	for _, p := range r.Proofs {
		for _, what := range p.Unproven {
			fmt.Fprintf(to, "not proven of %s: %s\n", p.Claim, what)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(to, "note: %s\n", note)
	}
	for _, v := range r.Violations {
		fmt.Fprintf(to, "\n%s (%s)", v.Kind, v.Claim)
		if about := cmp.Or(v.URL, v.Domain); about != "" {
			to.WriteString(" " + about)
		}
		fmt.Fprintf(to, "\n  %s\n", v.Says)
		for _, record := range v.Records {
			fmt.Fprintf(to, "  %s/%d at %d: %s\n", record.Topic, record.Partition, record.Offset, record.Says)
		}
		for _, line := range v.Lines {
			fmt.Fprintf(to, "  %s, line %d: %s\n", line.File, line.Line, line.Says)
		}
	}
	if more := r.More(); more != 0 {
		fmt.Fprintf(to, "and %d more\n", more)
	}
}

// More is the number of violations that are not listed.
func (r *Report) More() int64 { return r.Found - int64(len(r.Violations)) }

func (p Proof) mark() string {
	switch {
	case p.Violations > 0:
		return "REFUTED"
	case len(p.Unproven) > 0:
		return "in part"
	}
	return "ok"
}

func (p Proof) counts() string {
	counts := fmt.Sprintf("%d %s", p.Shown, p.Unit)
	if p.InTransit > 0 {
		counts += fmt.Sprintf(", %d in transit", p.InTransit)
	}
	if p.Violations > 0 {
		counts += fmt.Sprintf(", %d violations", p.Violations)
	}
	return counts
}
