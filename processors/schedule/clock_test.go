package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPartitionClock(t *testing.T) {
	epoch := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return epoch.Add(d) }
	var none time.Time
	for _, tt := range []struct {
		name    string
		decided time.Time
		clock   []time.Duration
		want    []time.Duration
	}{
		{"goes on", none, []time.Duration{0, 1, 5}, []time.Duration{0, 1, 5}},
		{"set back", none, []time.Duration{0, 10, -3600, -3590}, []time.Duration{0, 10, 10, 20}},
		{"set forward", none, []time.Duration{0, 3600, 3601}, []time.Duration{0, 3600, 3601}},
		{"forward and back", none, []time.Duration{0, 3600, 1, 2}, []time.Duration{0, 3600, 3600, 3601}},
		{"set back between runs", at(3600), []time.Duration{0, 1}, []time.Duration{3600, 3601}},
		{"an older decision", at(-3600), []time.Duration{0, 1}, []time.Duration{0, 1}},
	} {
		c := partitionClock{decided: func() time.Time { return tt.decided }}
		for i, clock := range tt.clock {
			if got := c.read(at(clock)).Sub(epoch); got != tt.want[i] {
				t.Errorf("%s: reading %d: %v, want %v", tt.name, i, got, tt.want[i])
			}
		}
	}
}

// Hosts that are down get requests again after a time without decisions, between two runs or
// because the machine slept.
func TestPartitionClockWakes(t *testing.T) {
	epoch := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		decided time.Duration // before the first reading; 0: never
		clock   []time.Duration
		want    time.Duration // -1: never
	}{
		{"a new crawl", 0, []time.Duration{0, time.Second}, -1},
		{"started again at once", time.Second, []time.Duration{0, time.Second}, -1},
		{"started again later", 2 * time.Minute, []time.Duration{0, time.Second}, 0},
		{"slept", time.Second, []time.Duration{0, time.Second, time.Hour, time.Hour + time.Second}, time.Hour},
		{"set back before it began", -time.Hour, []time.Duration{0, time.Second}, -1},
	} {
		var decided time.Time
		if tt.decided != 0 {
			decided = epoch.Add(-tt.decided)
		}
		c := partitionClock{decided: func() time.Time { return decided }}
		for _, clock := range tt.clock {
			c.read(epoch.Add(clock))
		}
		var want time.Time
		if tt.want >= 0 {
			want = epoch.Add(tt.want)
		}
		if !c.wokenAt.Equal(want) {
			t.Errorf("%s: woken at %v, want %v", tt.name, c.wokenAt, want)
		}
	}
}

// Whatever the machine's clock does, the partition's never goes back, and is never
// slower than the machine's.
func TestPartitionClockNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "clock"))
		decided := time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "decided"))
		c := partitionClock{decided: func() time.Time { return decided }}
		told := c.read(clock)
		if told.Before(decided) {
			t.Fatalf("%v is before the last decision, %v", told, decided)
		}
		for range rapid.IntRange(1, 20).Draw(t, "readings") {
			passed := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "passed"))
			clock = clock.Add(passed)
			next := c.read(clock)
			if want := told.Add(max(passed, 0)); !next.Equal(want) {
				t.Fatalf("%v after %v, want %v", next, told, want)
			}
			told = next
		}
	})
}
