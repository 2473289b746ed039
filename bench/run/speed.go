package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/webtest"
)

// Bars of `run speed`.
const (
	minRatio  = 0.6
	maxPeakMB = 400
)

// row is one program in one round.
type row struct {
	name  string
	round int
	usage
	webCPU time.Duration
	report webtest.Report
}

func (r row) pagesPerSecond() float64 { return float64(r.report.Fetched) / r.wall.Seconds() }

func (r row) cpuPerPage() float64 { return micros(r.cpu, r.report.Fetched) }

func micros(d time.Duration, pages int) float64 {
	return float64(d.Microseconds()) / float64(max(pages, 1))
}

func speed(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("run speed", flag.ContinueOnError)
	spec := localweb.Spec{Pages: 20_000, Domains: 50, Seed: 1}
	spec.Register(f)
	bin := f.String("bin", "bin", "`directory` of the programs web and limit")
	limit := f.String("limit", "{bin}/limit -urls {urls}", "`command` of the limit")
	crawl := f.String("crawl", "{bin}/weft crawl --delay 0 --allow-private --scope host --seeds {seeds} --data {data}", "`command` of the crawler")
	rounds := f.Int("rounds", 2, "`rounds`, each of the limit and then the crawler")
	dir := f.String("tmp", "", "keep files in this `directory` instead of a temporary one")
	bars := f.Bool("bars", false, "fail when a bar is missed")
	if err := f.Parse(args); err != nil {
		return err
	}
	work, clean, err := workDir(*dir)
	if err != nil {
		return err
	}
	defer clean()
	site, err := spec.Web()
	if err != nil {
		return err
	}
	var rows []row
	for round := 1; round <= *rounds; round++ {
		for _, p := range []struct{ name, line string }{{"limit", *limit}, {"weft", *crawl}} {
			dir := filepath.Join(work, fmt.Sprintf("%s-%d", p.name, round))
			r, err := measureOne(ctx, *bin, p.line, spec, site, dir)
			if err != nil {
				return fmt.Errorf("%s, round %d (its output is in %s): %w", p.name, round, filepath.Join(dir, "output.log"), err)
			}
			r.name, r.round = p.name, round
			fmt.Fprintf(out, "%s, round %d: %d of %d pages in %.1f s, %.0f pages/s\n", r.name, round, r.report.Fetched, r.report.Expected, r.wall.Seconds(), r.pagesPerSecond())
			rows = append(rows, r)
		}
	}
	table(out, rows)
	missed := verdict(out, rows)
	if *bars && missed > 0 {
		return fmt.Errorf("%d bars missed", missed)
	}
	return nil
}

// workDir is the named directory, or a temporary one that clean removes.
func workDir(name string) (dir string, clean func(), err error) {
	if name != "" {
		return name, func() {}, os.MkdirAll(name, 0o755)
	}
	dir, err = os.MkdirTemp("", "weft-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// measureOne runs one program against a fresh web.
func measureOne(ctx context.Context, bin, line string, spec localweb.Spec, site localweb.Web, dir string) (r row, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	w, err := startWeb(filepath.Join(bin, "web"), spec, dir, true)
	if err != nil {
		return r, err
	}
	total := 0
	for range site.Pages() {
		total++
	}
	words := command(line, map[string]string{
		"bin": bin, "urls": w.urls, "seeds": w.seeds, "data": filepath.Join(dir, "data"), "delay": "0",
	})
	started := time.Now()
	c, err := start(words, filepath.Join(dir, "output.log"))
	if err == nil {
		r.usage, err = c.measure(ctx, started, w.served, int64(total))
	}
	entries, webCPU, stopErr := w.stop()
	if err := errors.Join(err, stopErr); err != nil {
		return r, err
	}
	r.webCPU = webCPU
	r.report = webtest.Audit(entries, webtest.Expect{Pages: site.Pages(), Denied: site.Denied})
	return r, nil
}

func table(out io.Writer, rows []row) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nprogram\tround\tpages\trepeats\tseconds\tpages/s\tCPU µs/page\tweb µs/page\tpeak MB\tat 25 %\t50 %\t75 %\t100 %\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\t\n", r.name, r.round, r.report.Fetched, r.report.Repeats,
			r.wall.Seconds(), r.pagesPerSecond(), r.cpuPerPage(), micros(r.webCPU, r.report.Fetched),
			mb(r.peakKB), mb(r.growthKB[0]), mb(r.growthKB[1]), mb(r.growthKB[2]), mb(r.growthKB[3]))
	}
	_ = t.Flush()
}

func mb(kb int64) string {
	if kb == 0 {
		return "–"
	}
	return strconv.FormatInt(kb/1024, 10)
}

// verdict compares the means of both programs and counts missed bars.
func verdict(out io.Writer, rows []row) (missed int) {
	sum, n := map[string]float64{}, map[string]float64{}
	var peak int64
	var lost int
	for _, r := range rows {
		sum[r.name] += r.pagesPerSecond()
		n[r.name]++
		lost += r.report.Expected - r.report.Fetched
		if r.name == "weft" {
			peak = max(peak, r.peakKB)
		}
	}
	ratio := sum["weft"] / n["weft"] / (sum["limit"] / n["limit"])
	fmt.Fprintln(out)
	check := func(ok bool, format string, args ...any) {
		word := "ok    "
		if !ok {
			word = "MISSED"
			missed++
		}
		fmt.Fprintf(out, word+"  "+format+"\n", args...)
	}
	check(ratio >= minRatio, "ratio weft/limit %.2f, bar ≥ %.2f", ratio, minRatio)
	check(peak <= maxPeakMB*1024, "peak memory %d MB, bar ≤ %d MB", peak/1024, maxPeakMB)
	check(lost == 0, "pages missing %d, bar 0", lost)
	return missed
}
