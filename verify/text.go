package verify

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the report for people: a line for each claim, and after it
// what refutes them.
func (r *Report) WriteText(to io.Writer) error {
	verdict := "proven"
	if !r.Proven {
		verdict = fmt.Sprintf("refuted by %d violations", r.Found)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "crawl %s: %s, in %v\n", r.Crawl, verdict, (time.Duration(r.TookMS) * time.Millisecond).Round(time.Millisecond))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, p := range r.Proofs {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", p.Claim, p.mark(), p.States, p.counts())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range r.Proofs {
		for _, what := range p.Unproven {
			fmt.Fprintf(&b, "not proven of %s: %s\n", p.Claim, what)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	for _, v := range r.Violations {
		v.write(&b)
	}
	if more := r.Found - int64(len(r.Violations)); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

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

func (v Violation) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s (%s)", v.Kind, v.Claim)
	if what := v.subject(); what != "" {
		fmt.Fprintf(b, " %s", what)
	}
	fmt.Fprintf(b, "\n  %s\n", v.Says)
	for _, r := range v.Records {
		fmt.Fprintf(b, "  %s/%d at %d: %s\n", r.Topic, r.Partition, r.Offset, r.Says)
	}
	for _, l := range v.Lines {
		fmt.Fprintf(b, "  %s, line %d: %s\n", l.File, l.Line, l.Says)
	}
}

// subject is what the violation is about.
func (v Violation) subject() string {
	if v.URL != "" {
		return v.URL
	}
	return v.Domain
}
