package progress

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Snapshot is a crawl at one moment. Pages and Errors are totals since the crawl began, and Bytes
// are of this run. The others are the present values.
type Snapshot struct {
	Pages  int64 // parsed
	Bytes  int64 // of bodies, decoded
	Errors int64 // URLs that were given up after errors

	Queued         int64 // URLs waiting in the frontier
	Down           int64 // of these, URLs of hosts that are down
	Blocked        int64 // of these, URLs of blocked domains
	Out            int64 // URLs released to the fetchers
	DomainsActive  int64 // domains with a visit out
	DomainsWaiting int64 // domains with URLs, waiting for their turn

	// Waits says why the crawl waits, such as "paused: fetch"; empty if it does not.
	Waits string
}

// Line is one snapshot as a line of text, without an end of line. rate is pages per
// second, elapsed is the time since this process began.
func Line(s Snapshot, rate float64, elapsed time.Duration) string {
	line := fmt.Sprintf("%s  %s pages  %s/s  %s  %s queued  %s domains active  %s waiting  %s errors",
		Clock(elapsed), Count(s.Pages), RateText(rate), Bytes(s.Bytes), Count(s.Queued+s.Out),
		Count(s.DomainsActive), Count(s.DomainsWaiting), Count(s.Errors))
	if s.Down > 0 {
		line += fmt.Sprintf("  %s wait for hosts that are down", Count(s.Down))
	}
	if s.Blocked > 0 {
		line += fmt.Sprintf("  %s of blocked domains", Count(s.Blocked))
	}
	if s.Waits != "" {
		line = Clock(elapsed) + "  " + s.Waits + line[len(Clock(elapsed)):] // in front, because the end of a line may be cut
	}
	return line
}

// Count groups digits by commas: 1,234,567.
func Count[N int | int32 | int64](n N) string { return humanize.Comma(int64(n)) }

// Bytes is a size with a decimal unit: 999 B, 1.5 kB, 23.0 MB.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		size /= 1000
		if size < 999.95 {
			return fmt.Sprintf("%.1f %s", size, unit)
		}
	}
	return fmt.Sprintf("%.1f PB", size/1000)
}

// Clock is hours, minutes and seconds: 1:02:03, 02:03.
func Clock(d time.Duration) string {
	seconds := int64(d / time.Second)
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%02d:%02d", m, s)
}

// RateText is a rate with its significant digits: a slow crawl makes some pages a minute.
func RateText(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return Count(int64(rate + 0.5))
}
