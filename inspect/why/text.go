package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/progress"
)

// Ref is the place of a record: "scheduled/2@17".
type Ref struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (r Ref) String() string { return fmt.Sprintf("%s/%d@%d", r.Topic, r.Partition, r.Offset) }

// moment is a time in milliseconds since 1970; 0 is the zero time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ms is a duration of n milliseconds.
func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// span is a duration in two units at most: "250 ms", "1.2 s", "3 m 20 s",
// "2 h 5 m", "3 d 4 h".
func span(d time.Duration) string {
	if d >= 10*time.Second {
		d = d.Round(time.Second)
	}
	switch {
	case d < 0:
		return "-" + span(d.Abs())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < 24*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "m")
	}
	return two(d, 24*time.Hour, "d", time.Hour, "h")
}

func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	if d%large/small == 0 {
		return fmt.Sprintf("%s %s", progress.Count(int64(d/large)), largeName)
	}
	return fmt.Sprintf("%s %s %d %s", progress.Count(int64(d/large)), largeName, d%large/small, smallName)
}

// clock prints times: the local time, with a date if it is not today, and its distance
// from now.
type clock struct {
	now  time.Time
	zone *time.Location
}

// Time is the time without the distance.
func (c clock) Time(t time.Time) string {
	t, now := t.In(c.zone), c.now.In(c.zone)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// When is the time and its distance: "10:04:05 (3 m ago)".
func (c clock) When(t time.Time) string { return fmt.Sprintf("%s (%s)", c.Time(t), c.Away(t)) }

// Away is the distance of a time: "3 m ago", "in 12 s", "now".
func (c clock) Away(t time.Time) string {
	switch d := t.Sub(c.now); {
	case d >= time.Second:
		return "in " + span(d)
	case d <= -time.Second:
		return span(d.Abs()) + " ago"
	}
	return "now"
}

// plural is a count with its noun: "1 URL", "2,000 URLs".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return progress.Count(n) + " " + noun + "s"
}

// percent is a share: "97 %", "<1 %".
func percent(part, whole int64) string {
	if whole == 0 {
		return "0 %"
	}
	share := 100 * float64(part) / float64(whole)
	if part > 0 && share < 1 {
		return "<1 %"
	}
	return fmt.Sprintf("%.0f %%", share)
}

// join lists things: "a, b and c".
func join(things []string) string {
	if n := len(things); n > 1 {
		return strings.Join(things[:n-1], ", ") + " and " + things[n-1]
	}
	return strings.Join(things, "")
}
