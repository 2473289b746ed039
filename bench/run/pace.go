package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/verify/accesslog"
)

// pace measures how even the pace of a crawl was, by the log of a web server.
func pace(_ context.Context, args []string, out io.Writer) error {
	b := newBench("pace", out)
	name := b.String("log", "", "access `log` of the web server")
	format := b.String("format", "nginx-tabs", "`format` of the log: "+strings.Join(accesslog.Names(), ", "))
	window := b.Duration("window", 10*time.Second, "length of a `window`")
	most := b.Float64("most", 0.25, "largest coefficient of variation, for -bars")
	b.BoolVar(&b.bars, "bars", false, "fail when a bar is missed")
	return b.run(args, func() error {
		form, err := accesslog.Named(*format)
		if err != nil {
			return err
		}
		var ends []int64
		bad, err := accesslog.ReadFile(*name, form, func(_ int, e accesslog.Entry) {
			if e.Status == 200 && e.Path != "/robots.txt" {
				ends = append(ends, e.End)
			}
		})
		if err != nil {
			return err
		}
		if bad.Count > 0 {
			return fmt.Errorf("%d lines of %s are not of the format %s: line %d: %w", bad.Count, *name, *format, bad.Line, bad.Err)
		}
		pages := windows(ends, *window)
		if len(pages) < 2 {
			return fmt.Errorf("%s has pages of less than two windows of %s", *name, *window)
		}
		mean, variation := evenness(pages)
		fmt.Fprintf(out, "pages in each %s: %v\nmean %.0f\n", *window, pages, mean)
		c := checks{out: out}
		c.check(variation <= *most, "coefficient of variation %.3f, at most %.2f", variation, *most)
		b.missed += c.missed
		return nil
	})
}

// windows counts the ends, in microseconds, in windows of a length. The first window begins with
// the first end. The last window is left out, because the crawl ended in it.
func windows(ends []int64, length time.Duration) []int {
	if len(ends) == 0 {
		return nil
	}
	first, last := slices.Min(ends), slices.Max(ends)
	counts := make([]int, (last-first)/length.Microseconds()+1)
	for _, end := range ends {
		counts[(end-first)/length.Microseconds()]++
	}
	return counts[:len(counts)-1]
}

// evenness returns the mean of counts, and their coefficient of variation: the standard
// deviation divided by the mean.
func evenness(counts []int) (mean, variation float64) {
	var sum, squares float64
	for _, n := range counts {
		sum += float64(n)
	}
	mean = sum / float64(len(counts))
	for _, n := range counts {
		squares += (float64(n) - mean) * (float64(n) - mean)
	}
	return mean, math.Sqrt(squares/float64(len(counts))) / mean
}
