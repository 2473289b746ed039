package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/performance"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/webserver"
)

// row is one program in one round.
type row struct {
	name  string
	round int
	usage
	webCPU time.Duration
	report webserver.AuditReport
	// kib of the expected pages, before compression.
	kib float64
}

func micros(d time.Duration, pages int) float64 {
	return float64(d.Microseconds()) / float64(max(pages, 1))
}

func (r row) String() string {
	quarters := make([]string, len(r.growthKB))
	for i, kb := range r.growthKB {
		quarters[i] = mb(kb)
	}
	return fmt.Sprintf("%s, round %d: %d of %d pages in %.1f s, %.0f pages/s, %.0f CPU µs a page, peak %s MB (at the quarters %s)", r.name, r.round,
		r.report.Fetched, r.report.Expected, r.wall.Seconds(), r.run().PagesPerSecond(), r.run().CPUPerPage(), mb(r.peakKB), strings.Join(quarters, ", "))
}

// run is the row for the tables of package performance.
func (r row) run() performance.Run {
	return performance.Run{
		Program: r.name, Fetched: r.report.Fetched, Expected: r.report.Expected, Repeats: r.report.Repeats, Robots: r.report.RobotsRequests,
		Seconds: r.wall.Seconds(), CPUSeconds: r.cpu.Seconds(), PeakMB: float64(r.peakKB) / 1024, KiB: r.kib,
	}
}

func mb(kb int64) string {
	if kb == 0 {
		return "–"
	}
	return strconv.FormatInt(kb/1024, 10)
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
	total, kib, err := w.writeURLs(site, values["urls"])
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
	r.webCPU, r.kib = webCPU, kib
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
