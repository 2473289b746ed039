package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/webserver"
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
	report webserver.AuditReport
}

func (r row) pagesPerSecond() float64 { return float64(r.report.Fetched) / r.wall.Seconds() }

func (r row) cpuPerPage() float64 { return micros(r.cpu, r.report.Fetched) }

func micros(d time.Duration, pages int) float64 {
	return float64(d.Microseconds()) / float64(max(pages, 1))
}

func speed(ctx context.Context, args []string, out io.Writer) error {
	b := newWebBench("speed", out, localweb.Spec{Pages: 20_000, Domains: 50, Seed: 1})
	limit := b.String("limit", "{bin}/limit -urls {urls}", "`command` of the limit")
	crawl := b.String("crawl", "{bin}/weft crawl --sitemaps off --delay 0 --allow-private --scope host --seeds {seeds} --data {data}", "`command` of the crawler")
	rounds := b.Int("rounds", 2, "`rounds`, each of the limit and then the crawler")
	return b.run(args, func() error {
		var rows []row
		for round := 1; round <= *rounds; round++ {
			for _, p := range []program{{name: "limit", line: *limit}, {name: "weft", line: *crawl}} {
				r, err := b.measure(ctx, p, round)
				if err != nil {
					return err
				}
				rows = append(rows, r)
			}
		}
		table(out, rows)
		b.missed = verdict(out, rows)
		return nil
	})
}

// program is a command to measure. beside are commands of other processes that
// run until it ends, each with a data directory of its own.
type program struct {
	name, line string
	beside     []string
	// quiet is how long no new page may be served; 0: as long as the program runs.
	quiet time.Duration
}

// measure runs one program against a fresh web, with all its files in a directory
// of their own, and prints what it did.
func (b *bench) measure(ctx context.Context, p program, round int) (r row, err error) {
	dir := b.dirOf(p.name, round)
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s, round %d: its output is in %s: %w", p.name, round, dir, err)
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	site, err := b.spec.Web()
	if err != nil {
		return r, err
	}
	w, err := startWeb(b.bin, b.spec, dir)
	if err != nil {
		return r, err
	}
	values := map[string]string{"bin": b.bin, "urls": filepath.Join(dir, "urls.txt"), "seeds": w.seeds, "delay": "0"}
	r.name, r.round = p.name, round
	total, err := w.writeURLs(site, values["urls"])
	if err == nil {
		served := w.served
		if p.quiet > 0 {
			served = noQuiet(served, p.quiet, time.Now)
		}
		r.usage, err = p.measure(ctx, dir, values, served, total)
	}
	entries, webCPU, stopErr := w.stop()
	if err := errors.Join(err, stopErr); err != nil {
		return r, err
	}
	r.webCPU = webCPU
	r.report = webserver.Audit(entries, webserver.Expect{Pages: site.Pages(), Denied: site.Denied})
	fmt.Fprintln(b.out, r)
	return r, nil
}

// dirOf is where the files of a program are.
func (b *bench) dirOf(program string, round int) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s-%d", strings.NewReplacer(",", "", " ", "-").Replace(program), round))
}

// noQuiet returns served with an error if it returns the same number for too long.
func noQuiet(served func() (int64, error), quiet time.Duration, now func() time.Time) func() (int64, error) {
	var last int64
	since := now()
	return func() (int64, error) {
		n, err := served()
		if n != last {
			last, since = n, now()
		}
		if err == nil && now().Sub(since) > quiet {
			err = fmt.Errorf("no page was served for %v after %d pages", quiet, n)
		}
		return n, err
	}
}

// measure runs the processes of a program. It returns the time of the first, the CPU of all, and
// the memory of the first.
func (p program) measure(ctx context.Context, dir string, values map[string]string, served func() (int64, error), total int64) (u usage, err error) {
	started := time.Now()
	var all []*child.Process
	for n, line := range append([]string{p.line}, p.beside...) {
		name := "data"
		if n > 0 {
			name += strconv.Itoa(n + 1)
		}
		values["data"] = filepath.Join(dir, name)
		c, startErr := start(command(line, values), filepath.Join(dir, name+".log"))
		if err = startErr; err != nil {
			break
		}
		all = append(all, c)
	}
	if err == nil {
		u, err = measure(ctx, all[0], started, served, total)
	}
	for n, c := range all {
		if n == 0 {
			c.Kill() // it has ended, or is not to
			continue
		}
		err = errors.Join(err, interrupt(c))
		u.cpu += cpu(c.ProcessState)
	}
	return u, err
}

func (r row) String() string {
	return fmt.Sprintf("%s, round %d: %d of %d pages in %.1f s, %.0f pages/s",
		r.name, r.round, r.report.Fetched, r.report.Expected, r.wall.Seconds(), r.pagesPerSecond())
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
	c := checks{out: out}
	fmt.Fprintln(out)
	c.check(ratio >= minRatio, "ratio weft/limit %.2f, bar ≥ %.2f", ratio, minRatio)
	c.check(peak <= maxPeakMB*1024, "peak memory %d MB, bar ≤ %d MB", peak/1024, maxPeakMB)
	c.check(lost == 0, "pages missing %d, bar 0", lost)
	return c.missed
}
