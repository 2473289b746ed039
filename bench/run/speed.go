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
		for _, p := range []program{{name: "limit", line: *limit}, {name: "weft", line: *crawl}} {
			r, err := measureOne(ctx, p, *bin, spec, site, filepath.Join(work, fmt.Sprintf("%s-%d", p.name, round)))
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", p.name, round, err)
			}
			r.round = round
			fmt.Fprintln(out, r)
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

// program is a command to measure. beside are commands of other processes that
// run until it ends, each with a data directory of its own.
type program struct {
	name, line string
	beside     []string
}

// workDir is the named directory, or a temporary one that clean removes.
func workDir(name string) (dir string, clean func(), err error) {
	if name != "" {
		return name, func() {}, os.MkdirAll(name, 0o755)
	}
	dir, err = os.MkdirTemp("", "weft-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// measureOne runs one program against a fresh web, with all its files in dir.
func measureOne(ctx context.Context, p program, bin string, spec localweb.Spec, site localweb.Web, dir string) (r row, err error) {
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
	r.name = p.name
	r.usage, err = p.measure(ctx, dir, map[string]string{"bin": bin, "urls": w.urls, "seeds": w.seeds, "delay": "0"}, w.served, int64(total))
	entries, webCPU, stopErr := w.stop()
	if err := errors.Join(err, stopErr); err != nil {
		return r, fmt.Errorf("its output is in %s: %w", dir, err)
	}
	r.webCPU = webCPU
	r.report = webtest.Audit(entries, webtest.Expect{Pages: site.Pages(), Denied: site.Denied})
	return r, nil
}

// measure runs the processes of a program. The time is that of the first, the
// CPU that of all, the memory that of the first.
func (p program) measure(ctx context.Context, dir string, values map[string]string, served func() (int64, error), total int64) (u usage, err error) {
	started := time.Now()
	var all []*child
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
		u, err = all[0].measure(ctx, started, served, total)
	}
	for n, c := range all {
		if n == 0 {
			c.kill() // it has ended, or is not to
			continue
		}
		err = errors.Join(err, c.interrupt(patience))
		u.cpu += c.cpu()
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

// checks print bars and count those that are missed.
type checks struct {
	out    io.Writer
	missed int
}

func (c *checks) check(ok bool, format string, args ...any) {
	word := "ok    "
	if !ok {
		word = "MISSED"
		c.missed++
	}
	fmt.Fprintf(c.out, word+"  "+format+"\n", args...)
}
