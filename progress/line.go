package progress

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Line is one snapshot as a line of text without an end of line. rate is pages
// a second, elapsed the time since this process began.
func Line(s Snapshot, rate float64, elapsed time.Duration) string {
	line := fmt.Sprintf("%s  %s pages  %s/s  %s  %s queued  %s domains active  %s waiting  %s errors",
		Clock(elapsed), Count(s.Pages), rateText(rate), Bytes(s.Bytes), Count(s.Queued+s.Out),
		Count(s.DomainsActive), Count(s.DomainsWaiting), Count(s.Errors))
	if s.Held != "" {
		line = Clock(elapsed) + "  " + s.Held + line[len(Clock(elapsed)):] // in front, where nothing is cut
	}
	return line
}

// Count groups digits by commas: 1,234,567.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, digit := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digit)
	}
	return b.String()
}

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

// rateText keeps the digits that say something: slow crawls are paced in
// pages a minute.
func rateText(rate float64) string {
	if rate < 10 {
		return strconv.FormatFloat(rate, 'f', 1, 64)
	}
	return Count(int64(rate + 0.5))
}
