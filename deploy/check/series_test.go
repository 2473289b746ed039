package check

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Series are the metrics that weft exports: their labels, and the values that are
// known of each.
type Series map[string]map[string][]string

var sample = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? `)

// ReadSeries reads an exposition, as /metrics or inspect/metrics/testdata holds it.
func ReadSeries(text string) Series {
	all := Series{}
	for line := range strings.Lines(text) {
		match := sample.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		if all[match[1]] == nil {
			all[match[1]] = map[string][]string{}
		}
		for _, pair := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(match[2], -1) {
			all[match[1]][pair[1]] = append(all[match[1]][pair[1]], pair[2])
		}
	}
	return all
}

// golden are the series in the tests of package metrics, the series of the process and of the Go
// runtime that every client exports, and Prometheus' own.
func golden(files fs.FS) (Series, error) {
	text, err := fs.ReadFile(files, "inspect/metrics/testdata/exposition.txt")
	if err != nil {
		return nil, err
	}
	all := ReadSeries(string(text))
	incidents, err := fs.ReadFile(files, "ledger/options.go")
	if err != nil {
		return nil, err
	}
	for _, kind := range regexp.MustCompile(`Incident\w+ += "(\w+)"`).FindAllSubmatch(incidents, -1) {
		all["weft_ledger_happenings_total"]["kind"] = append(all["weft_ledger_happenings_total"]["kind"], string(kind[1]))
	}
	all["weft_ledger_checkpoint_timestamp_seconds"] = map[string][]string{"stage": {"dedupe", "schedule"}}
	for _, name := range []string{"up", "process_cpu_seconds_total", "process_resident_memory_bytes", "go_goroutines"} {
		all[name] = map[string][]string{}
	}
	return all, nil
}

// targetLabels come from the scrape and not from weft.
var targetLabels = []string{"crawl", "instance", "job", "service"}

// open labels have values that no file lists.
var open = []string{"class", "status", "reason"}

// expression parses a query and says what in it weft does not export.
func (p *problems) expression(where, text string, known Series) {
	expr, err := parser.ParseExpr(text)
	if err != nil {
		p.addf("%s: %w", where, err)
		return
	}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			p.selector(where, node, known)
		case *parser.AggregateExpr:
			p.grouping(where, node, known)
		}
		return nil
	})
}

func (p *problems) selector(where string, s *parser.VectorSelector, known Series) {
	has, ok := known[s.Name]
	if !ok {
		p.addf("%s: weft exports no %s", where, s.Name)
		return
	}
	for _, m := range s.LabelMatchers {
		if m.Name == labels.MetricName || slices.Contains(targetLabels, m.Name) {
			continue
		}
		values, ok := has[m.Name]
		if !ok {
			p.addf("%s: %s has no label %s", where, s.Name, m.Name)
		} else if m.Type == labels.MatchEqual && !slices.Contains(open, m.Name) && !slices.Contains(values, m.Value) {
			p.addf("%s: %s is never %s=%q", where, s.Name, m.Name, m.Value)
		}
	}
}

// grouping is by labels that something below has.
func (p *problems) grouping(where string, a *parser.AggregateExpr, known Series) {
	below := slices.Clone(targetLabels)
	parser.Inspect(a.Expr, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			for label := range known[s.Name] {
				below = append(below, label)
			}
		}
		return nil
	})
	for _, label := range a.Grouping {
		if !slices.Contains(below, label) {
			p.addf("%s: nothing in %s has the label %s", where, a.Expr, label)
		}
	}
}
