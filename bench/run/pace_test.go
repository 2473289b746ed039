package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEvenness(t *testing.T) {
	for _, tc := range []struct {
		counts          []int
		mean, variation float64
	}{
		{[]int{5, 5, 5}, 5, 0},
		{[]int{2, 4, 4, 4, 5, 5, 7, 9}, 5, 0.4},
		{[]int{0, 10}, 5, 1},
	} {
		if mean, variation := evenness(tc.counts); mean != tc.mean || math.Abs(variation-tc.variation) > 1e-9 {
			t.Errorf("%v: %v, %v; want %v, %v", tc.counts, mean, variation, tc.mean, tc.variation)
		}
	}
}

func TestWindows(t *testing.T) {
	at := func(seconds ...float64) (ends []int64) {
		for _, s := range seconds {
			ends = append(ends, int64(s*1e6))
		}
		return ends
	}
	for _, tc := range []struct {
		ends []int64
		want []int
	}{
		{nil, nil},
		{at(100), []int{}},
		{at(105, 100, 109.9, 110, 125, 130.5), []int{3, 1, 1}}, // not sorted; the window from 130 on is left out
	} {
		if got := windows(tc.ends, 10*time.Second); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.ends, got, tc.want)
		}
	}
}

// Pages count, but not robots.txt and errors.
func TestPace(t *testing.T) {
	var log strings.Builder
	line := func(at float64, status int, path string) {
		fmt.Fprintf(&log, "%.3f\t10.0.0.1\t10.0.0.2\thttp\texample.com\t%d\t0.001\t100\tGET\t%s\tweft\n", at, status, path)
	}
	for i := range 60 {
		line(1000+float64(i)/2, 200, "/page")
	}
	for range 50 {
		line(1001, 200, "/robots.txt")
		line(1002, 404, "/none")
	}
	line(1031, 200, "/last")
	name := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(name, []byte(log.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := pace(t.Context(), []string{"-bars", "-log", name}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "pages in each 10s: [20 20 20]\nmean 20\nok      coefficient of variation 0.000, at most 0.25\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if err := pace(t.Context(), []string{"-log", name, "-window", "1m"}, &out); err == nil || !strings.Contains(err.Error(), "less than two windows") {
		t.Errorf("one window: %v", err)
	}
}
