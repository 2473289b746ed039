package progress_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/inspect/progress"
)

var update = flag.Bool("update", false, "rewrite testdata")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// visible makes a terminal's control sequences readable.
var visible = strings.NewReplacer("\r\x1b[K", "<erase>")

func at(second float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(second * float64(time.Second)))
}

// crawl is a crawl of 120 pages a second that stops for a while at second 20.
func crawl(second int) progress.Snapshot {
	worked := int64(min(second, 20) + max(second-30, 0))
	return progress.Snapshot{
		Pages: 120 * worked, Bytes: 3_600_000 * worked, Errors: worked / 10,
		Queued: 40 * worked, Out: 32, DomainsActive: 25, DomainsWaiting: 1200,
	}
}

func TestDisplayElsewhereIsALineEveryTenSeconds(t *testing.T) {
	var out bytes.Buffer
	d := progress.NewDisplay(&out, false, nil)
	for second := range 62 {
		d.Show(crawl(second), at(float64(second)))
		if second == 33 {
			_, _ = d.Write([]byte("a log line\n"))
		}
	}
	d.Close()
	golden(t, "plain.txt", out.String())
}

func TestDisplayOnATerminalIsRedrawnInPlace(t *testing.T) {
	var out bytes.Buffer
	columns := 200
	d := progress.NewDisplay(&out, true, func() int { return columns })
	_, _ = d.Write([]byte("before the first line\n"))
	for second := range 4 {
		d.Show(crawl(second), at(float64(second)))
		if second == 1 {
			_, _ = d.Write([]byte("a log line\n"))
			columns = 40 // the window is made narrower
		}
	}
	d.Close()
	d.Close()
	_, _ = d.Write([]byte("after the last\n"))
	golden(t, "terminal.txt", visible.Replace(out.String()))
}

func TestSummary(t *testing.T) {
	var out bytes.Buffer
	summaries := []progress.Summary{
		{
			Ended: "drained", Elapsed: 100 * time.Second, Rate: 1234.6, Pages: 123_456, Bytes: 3_700_000_000,
			Outcomes: map[string]int64{
				"fetched 200": 123_456, "fetched 404": 120, "gave_up_timeout": 9, "robots_disallowed": 9, "never": 0,
			},
		},
		{Ended: "interrupted", Elapsed: 400 * time.Millisecond, Left: 1_000_000},
	}
	for _, s := range summaries {
		if _, err := s.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "summary.txt", out.String())
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestSummaryReportsTheWriter(t *testing.T) {
	if _, err := (progress.Summary{}).WriteTo(broken{}); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want %v", err, errBroken)
	}
}

func TestRate(t *testing.T) {
	type step struct {
		second float64
		total  int64
		want   float64
	}
	tests := map[string][]step{
		"nothing is known from one sample": {{0, 100, 0}},
		"two at the same moment":           {{0, 100, 0}, {0, 200, 0}},
		"steady":                           {{0, 0, 0}, {1, 10, 10}, {2, 20, 10}, {9, 90, 10}},
		"forgets after five seconds":       {{0, 0, 0}, {1, 1000, 1000}, {2, 1000, 500}, {4, 1000, 250}, {6, 1000, 0}},
		"counts that fall start anew":      {{0, 500, 0}, {1, 600, 100}, {2, 10, 0}, {3, 30, 20}},
	}
	for name, steps := range tests {
		var rate progress.Rate
		for _, s := range steps {
			rate.Add(at(s.second), s.total)
			if got := rate.PerSecond(); got != s.want {
				t.Errorf("%s: at second %v rate %v, want %v", name, s.second, got, s.want)
			}
		}
	}
}

func TestRateIsNeverOutsideOfItsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rate progress.Rate
		second, total := 0.0, int64(0)
		for range rapid.IntRange(2, 40).Draw(t, "samples") {
			second += rapid.Float64Range(0.1, 8).Draw(t, "gap")
			total += rapid.Int64Range(0, 1000).Draw(t, "events")
			rate.Add(at(second), total)
			if got := rate.PerSecond(); got < 0 || got > 1000/0.099 {
				t.Fatalf("rate %v", got)
			}
		}
	})
}

func TestTexts(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -12: "-12"} {
		if got := progress.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1500: "1.5 kB", 999_949: "999.9 kB", 999_999: "1.0 MB", 23e9: "23.0 GB", 9e18: "9000.0 PB"} {
		if got := progress.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "00:00", 62 * time.Second: "01:02", 3723 * time.Second: "1:02:03"} {
		if got := progress.Clock(d); got != want {
			t.Errorf("Clock(%v) = %q, want %q", d, got, want)
		}
	}
}
