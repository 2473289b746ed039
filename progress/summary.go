package progress

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Summary is what a crawl came to.
type Summary struct {
	// Drained: nothing is left to do. Otherwise the crawl was interrupted, or
	// met its bound, and can be resumed.
	Drained bool
	Elapsed time.Duration
	// Pages and Bytes of this run, for the rate.
	Pages, Bytes int64
	// Left is the URLs still to be fetched.
	Left int64
	// Outcomes by name, such as "fetched 200" or "gave_up_timeout".
	Outcomes map[string]int64
}

// WriteTo prints the summary: a sentence, and the outcomes as a table, the most
// frequent first.
func (s Summary) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	end := "stopped"
	if s.Drained {
		end = "done"
	}
	fmt.Fprintf(&b, "%s: %s pages, %s in %s", end, Count(s.Pages), Bytes(s.Bytes), Clock(s.Elapsed))
	if seconds := s.Elapsed.Seconds(); seconds >= 1 {
		fmt.Fprintf(&b, ", %s pages/s", rateText(float64(s.Pages)/seconds))
	}
	if s.Left > 0 {
		fmt.Fprintf(&b, ", %s URLs left", Count(s.Left))
	}
	b.WriteByte('\n')
	s.table(&b)
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func (s Summary) table(b *strings.Builder) {
	names := make([]string, 0, len(s.Outcomes))
	widest, total := len("total"), int64(0)
	for name, count := range s.Outcomes {
		if count == 0 {
			continue
		}
		names = append(names, name)
		widest = max(widest, len(name))
		total += count
	}
	if total == 0 {
		return
	}
	slices.SortFunc(names, func(a, c string) int {
		return cmp.Or(cmp.Compare(s.Outcomes[c], s.Outcomes[a]), strings.Compare(a, c))
	})
	digits := len(Count(total))
	row := func(name string, count int64) {
		fmt.Fprintf(b, "  %-*s  %*s  %5.1f%%\n", widest, name, digits, Count(count), 100*float64(count)/float64(total))
	}
	for _, name := range names {
		row(name, s.Outcomes[name])
	}
	row("total", total)
}
