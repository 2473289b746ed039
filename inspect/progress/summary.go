package progress

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Summary is the result of a run.
type Summary struct {
	// Ended is the reason in one word.
	Ended string
	// Elapsed is the time of this run, Rate its pages per second; 0 if unknown.
	Elapsed time.Duration
	Rate    float64
	// Pages since the crawl began, Bytes of their bodies in this run.
	Pages, Bytes int64
	// Left is the number of URLs that are still to be fetched.
	Left int64
	// Down has the hosts that are down, with the number of their URLs.
	Down map[string]int64
	// Blocked is the number of URLs of blocked domains.
	Blocked int64
	// Outcomes are the numbers of settled URLs by reason, such as "fetched" or "disallowed".
	Outcomes map[string]int64
}

// WriteTo prints the summary: a sentence, and the outcomes as a table, the most
// frequent first.
func (s Summary) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %s: %s pages, %s", s.Ended, Clock(s.Elapsed), Count(s.Pages), Bytes(s.Bytes))
	if s.Rate > 0 {
		fmt.Fprintf(&b, ", %s pages/s", RateText(s.Rate))
	}
	if s.Left > 0 {
		fmt.Fprintf(&b, ", %s URLs left", Count(s.Left))
	}
	b.WriteByte('\n')
	s.table(&b)
	s.down(&b)
	if s.Blocked > 0 {
		fmt.Fprintf(&b, "%s URLs of blocked domains stay queued; weft domains --blocked lists them\n", Count(s.Blocked))
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (s Summary) table(b *strings.Builder) {
	widest, total := len("total"), int64(0)
	for name, count := range s.Outcomes {
		if count > 0 {
			widest = max(widest, len(name))
			total += count
		}
	}
	if total == 0 {
		return
	}
	digits := len(Count(total))
	row := func(name string, count int64) {
		fmt.Fprintf(b, "  %-*s  %*s  %5.1f%%\n", widest, name, digits, Count(count), 100*float64(count)/float64(total))
	}
	for _, name := range ByCount(s.Outcomes) {
		if s.Outcomes[name] > 0 {
			row(name, s.Outcomes[name])
		}
	}
	row("total", total)
}

// mostDown is how many hosts that are down are named.
const mostDown = 20

// down names the hosts for which URLs wait.
func (s Summary) down(b *strings.Builder) {
	if len(s.Down) == 0 {
		return
	}
	b.WriteString("hosts that are down, with their URLs, which stay queued; run weft crawl again to go on with them:\n")
	for i, host := range ByCount(s.Down) {
		if i == mostDown {
			fmt.Fprintf(b, "  and %s more hosts\n", Count(int64(len(s.Down)-mostDown)))
			break
		}
		fmt.Fprintf(b, "  %s  %s\n", host, Count(s.Down[host]))
	}
}

// ByCount returns the names that have counts, the most frequent first.
func ByCount(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}
