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

// String is the median with the range, both without a fraction.
func (s Spread) String() string {
	return fmt.Sprintf("%s (%s–%s)", whole(s.Median), whole(s.Min), whole(s.Max))
}

func count(n int) string { return humanize.Comma(int64(n)) }

func whole(x float64) string { return humanize.Comma(int64(math.Round(x))) }
