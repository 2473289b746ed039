package politeness

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite testdata")

// golden compares a table with a file of testdata, which -update rewrites.
func golden(t *testing.T, name string, write func(out *bytes.Buffer)) {
	t.Helper()
	var got bytes.Buffer
	write(&got)
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs (-update rewrites it); now:\n%s", file, &got)
	}
}

func TestDelays(t *testing.T) {
	golden(t, "delays.txt", func(out *bytes.Buffer) {
		row := "%-11v %-12v %-7v %-9v %-8v %-6v %-6v %v\n"
		fmt.Fprintf(out, row, "configured", "crawl-delay", "factor", "response", "delay", "visit", "lead", "lease")
		for _, configured := range []time.Duration{0, 100 * time.Millisecond, time.Second, 20 * time.Second, time.Hour} {
			for _, crawl := range []time.Duration{0, 3 * time.Second, time.Hour} {
				for _, response := range []time.Duration{0, 4 * time.Second, 2 * time.Hour} {
					delay := Delay(configured, crawl, 1, response)
					size := VisitSize(delay)
					fmt.Fprintf(out, row, configured, crawl, 1, response, delay, size, Lead(delay), Lease(size, delay))
				}
			}
		}
	})
}

// TestBreakerTimeline plays failures and answers from a closed breaker on.
func TestBreakerTimeline(t *testing.T) {
	golden(t, "breaker.txt", func(out *bytes.Buffer) {
		var b Breaker
		row := "%-9s failures %-3d open %-6v cycles %-3d wait %v\n"
		for _, what := range append(slices.Repeat([]string{"fails"}, 7), slices.Concat(
			slices.Repeat([]string{"probe"}, 8), []string{"answers", "fails", "answers"})...) {
			switch what {
			case "fails":
				b = b.Failed(false, 5)
			case "probe":
				b = b.Failed(true, 5)
			default:
				b = b.Answered()
			}
			fmt.Fprintf(out, row, what, b.Failures, b.Open, b.Cycles, b.Wait(time.Second))
		}
	})
}

func TestVerdicts(t *testing.T) {
	golden(t, "verdicts.txt", func(out *bytes.Buffer) {
		row := "%-20v %-20v %-9v %-7v %-6v %-10v %-9v %-10v %-8v %v\n"
		fmt.Fprintf(out, row, "outcome", "reason", "server", "waits", "retry", "throttled", "not made", "unreached", "missing", "page")
		health := map[Health]string{Unknown: "-", Answered: "answered", Failed: "failed"}
		line := func(outcome any, v Verdict) {
			waits := "-"
			if v.Health == Failed {
				waits = map[Unit]string{Host: "host", Origin: "origin"}[v.Unit]
			}
			fmt.Fprintf(out, row, outcome, v.Reason, health[v.Health], waits, v.Retry, v.Throttled, v.Unmade, v.Unreached, v.Missing, v.Page)
		}
		for _, status := range []uint32{0, 200, 204, 206, 301, 304, 400, 403, 404, 408, 410, 421, 425, 429, 451, 500, 502, 503, 504, 599, 600, 999} {
			line(status, Judge(status, ""))
		}
		var names []string
		for name := range classes {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range append(names, "never_heard_of") {
			line(name, Judge(0, name))
		}
		for _, status := range []uint32{200, 302, 404, 408, 429, 503, 600} {
			for _, name := range append(slices.Sorted(maps.Keys(bodily)), "bad_response", "lease_lost") {
				line(fmt.Sprintf("%d %s", status, name), Judge(status, name))
			}
		}
	})
}

func TestRetries(t *testing.T) {
	golden(t, "retries.txt", func(out *bytes.Buffer) {
		row := "%-8v %-22v %-22v %-12v %-12v %v\n"
		fmt.Fprintf(out, row, "failures", "URL", "URL, Retry-After 20s", "robots.txt", "throttled", "learnt delay of 1s")
		cell := func(wait time.Duration, ok bool) string {
			if !ok {
				return "given up"
			}
			return wait.String()
		}
		pace := Pace{}.Refused(time.Second, 0)
		for n := uint32(1); n <= 13; n++ {
			fmt.Fprintf(out, row, n, cell(Retry(n, 0)), cell(Retry(n, 20*time.Second)), RetryRobots(n, 0), ThrottleWait(n), pace.Delay())
			pace = pace.Resumed(0).Refused(0, 0)
		}
	})
}

func TestNextRelease(t *testing.T) {
	end := time.UnixMilli(1_700_000_000_000)
	for delay, want := range map[time.Duration]time.Duration{
		0: 0, time.Second: 0, 2 * time.Second: 0, 10 * time.Second: 8 * time.Second,
	} {
		if got := NextRelease(end, delay).Sub(end); got != want {
			t.Errorf("delay %v: next release after %v, want %v", delay, got, want)
		}
	}
}

// TestBounds holds the limits that the frontier counts on.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := func(name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, name))
		}
		configured := min(duration("configured"), MaxDelay)
		crawl, response, retryAfter := duration("crawl-delay"), duration("response"), duration("retry-after")
		factor := rapid.Float64Range(0, 1000).Draw(t, "factor")
		b := Breaker{rapid.Uint32().Draw(t, "failures"), rapid.Uint32().Draw(t, "cycles"), rapid.Bool().Draw(t, "open")}
		b = b.Failed(rapid.Bool().Draw(t, "probe"), 5)

		delay := Delay(configured, crawl, factor, response)
		if delay < configured || delay < min(crawl, MaxCrawlDelay) || delay > MaxDelay {
			t.Fatalf("delay %v", delay)
		}
		if configured == 0 && delay != min(crawl, MaxCrawlDelay) {
			t.Fatalf("delay %v though none is configured", delay)
		}
		size := VisitSize(delay)
		if size < 1 || size > MaxVisit || size > 1 && time.Duration(size)*delay > visitSpan {
			t.Fatalf("visit of %d at %v", size, delay)
		}
		if lease := Lease(size, delay); lease > MaxLease || lease < time.Duration(size)*delay {
			t.Fatalf("lease %v", lease)
		}
		if wait := b.Wait(delay); wait < FirstBackoff || wait > MaxBackoff {
			t.Fatalf("breaker waits %v", wait)
		}
		end := time.UnixMilli(0)
		if wait := NextRelease(end, delay).Sub(end); wait > MaxWait || wait < delay-Lead(delay) {
			t.Fatalf("next release after %v", wait)
		}
		if wait := RetryRobots(b.Failures, retryAfter); wait > MaxWait || wait < time.Second {
			t.Fatalf("robots.txt again after %v", wait)
		}
	})
}
