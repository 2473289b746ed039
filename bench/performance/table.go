package performance

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// Table is a Markdown table of the summaries.
func Table(all []Summary) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| program | pages | repeats | robots.txt | seconds | pages/s | ÷ Weft | CPU µs a page | ÷ Weft | peak MB | durable |")
	fmt.Fprintln(&b, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %s of %s | %s | %s | %.1f | %s | %.2f | %s | %.2f | %s | %s |\n",
			strings.TrimSpace(s.Program.Name+" "+s.Program.Version), count(s.Fetched), count(s.Expected), count(s.Repeats), count(s.Robots),
			s.Seconds.Median, s.Rate, s.RateRatio.Median, s.CPU, s.CPURatio.Median, whole(s.PeakMB.Median), s.Program.Durable)
	}
	return b.String()
}

// Comparison is all programs on one web.
type Comparison struct {
	Web       string
	Summaries []Summary
}

// WebTable is a Markdown table of the programs on each web: medians, in brackets with their
// confidence intervals.
func WebTable(all []Comparison) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| web | program | pages | CPU µs a page | ÷ Weft | CPU µs a KiB | pages/s | ÷ Weft | peak MB |")
	fmt.Fprintln(&b, "|---|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, c := range all {
		for _, s := range c.Summaries {
			fmt.Fprintf(&b, "| %s | %s | %s of %s | %s | %s | %.1f | %s | %s | %s |\n", c.Web, s.Program.Name, count(s.Fetched), count(s.Expected),
				s.CPU.Interval(0), s.CPURatio.Interval(2), s.CPUPerKiB.Median, whole(s.Rate.Median), s.RateRatio.Interval(2), whole(s.PeakMB.Median))
		}
	}
	return b.String()
}

// Interval is the median with its confidence interval.
func (s Spread) Interval(decimals int) string {
	return fmt.Sprintf("%.*f (%.*f–%.*f)", decimals, s.Median, decimals, s.Lo, decimals, s.Hi)
}

// String is the median with the range, both without a fraction.
func (s Spread) String() string {
	return fmt.Sprintf("%s (%s–%s)", whole(s.Median), whole(s.Min), whole(s.Max))
}

func count(n int) string { return humanize.Comma(int64(n)) }

func whole(x float64) string { return humanize.Comma(int64(math.Round(x))) }
