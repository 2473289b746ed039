package verify

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"
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
	if err := details().Execute(&b, r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// details is parsed when it is used first, so that the program starts quickly.
var details = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Parse(detailsText))
})

const detailsText = `
{{- range .Proofs}}{{$claim := .Claim}}{{range .Unproven}}not proven of {{$claim}}: {{.}}
{{end}}{{end}}

{{- range .Notes}}note: {{.}}
{{end}}

{{- range .Violations}}
{{.Kind}} ({{.Claim}}){{with or .URL .Domain}} {{.}}{{end}}
  {{.Says}}
{{range .Records}}  {{.Topic}}/{{.Partition}} at {{.Offset}}: {{.Says}}
{{end}}
{{- range .Lines}}  {{.File}}, line {{.Line}}: {{.Says}}
{{end}}{{end}}

{{- with .More}}and {{.}} more
{{end}}`

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
