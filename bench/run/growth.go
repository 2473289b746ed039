package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/localweb"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/freeport"
)

// growth measures how the cost of a page grows with the URLs that a crawl knows. It crawls a web
// that has no end, whose pages have so many links that nearly all of their URLs stay queued.
func growth(ctx context.Context, args []string, out io.Writer) error {
	b := newWebBench("growth", out, localweb.Spec{Pages: 1e9, Domains: 200, Links: 150, Seed: 1})
	crawl := b.String("crawl", "{bin}/weft crawl --sitemaps off --delay 0 --allow-private --scope any --seeds {seeds} --data {data} --metrics {metrics}", "`command` of the crawler")
	known := b.Float64("known", 1e7, "`URLs` to make known")
	return b.run(args, func() error {
		if *known < 10*firstKnown {
			return fmt.Errorf("fewer than %.0f URLs tell nothing", 10.0*firstKnown)
		}
		points, err := b.grow(ctx, *crawl, *known)
		if err != nil {
			return err
		}
		rows := growthRows(points)
		fmt.Fprintln(out, "| URLs known | pages | CPU µs a page | CPU µs a URL that is new |\n|--:|--:|--:|--:|")
		for _, r := range rows {
			fmt.Fprintf(out, "| %.2g to %.2g | %.0f | %.0f | %.1f |\n", r.from, r.to, r.pages, r.perPage, r.perURL)
		}
		first, last := rows[0], rows[len(rows)-1]
		c := checks{out: out}
		c.check(last.perPage <= mostGrowth*first.perPage, "a page costs %.2f times as much with %.2g URLs known as with %.2g, at most %.1f", last.perPage/first.perPage, last.to, first.to, mostGrowth)
		b.missed += c.missed
		return nil
	})
}

const (
	// firstKnown is how many URLs are known when the measurement begins.
	firstKnown = 1e4
	mostGrowth = 1.3
)

// growthPoint is a crawl when it knows so many URLs.
type growthPoint struct {
	known, pages float64
	cpu          time.Duration
}

// growthRow is what a crawl did between two points.
type growthRow struct {
	from, to, pages float64
	// µs of CPU
	perPage, perURL float64
}

func growthRows(points []growthPoint) (rows []growthRow) {
	for i := range points[1:] {
		a, b := points[i], points[i+1]
		spent, pages := b.cpu-a.cpu, b.pages-a.pages
		rows = append(rows, growthRow{a.known, b.known, pages, micros(spent, int(pages)), micros(spent, int(b.known-a.known))})
	}
	return rows
}

// grow crawls until so many URLs are known. It returns a point for firstKnown, and one whenever
// the known URLs have grown by the square root of ten.
func (b *bench) grow(ctx context.Context, line string, known float64) (points []growthPoint, err error) {
	addrs, err := freeport.Loopback(1)
	if err != nil {
		return nil, err
	}
	w, err := startWeb(b.bin, b.spec, b.dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		_, _, stopped := w.stop()
		err = errors.Join(err, stopped)
	}()
	values := map[string]string{"bin": b.bin, "seeds": w.seeds, "data": filepath.Join(b.dir, "data"), "metrics": addrs[0]}
	crawl, err := start(command(line, values), filepath.Join(b.dir, "weft.log"))
	if err != nil {
		return nil, err
	}
	defer crawl.Kill()
	for next := firstKnown; next <= known*1.001; {
		p, err := growthNow(ctx, crawl, "http://"+addrs[0]+"/metrics")
		if err != nil {
			return nil, fmt.Errorf("%w; the output is in %s", err, b.dir)
		}
		if p.known < next {
			continue
		}
		points = append(points, p)
		fmt.Fprintf(b.out, "%.3g URLs known, %.0f pages, %.1f s of CPU\n", p.known, p.pages, p.cpu.Seconds())
		for next <= p.known {
			next *= math.Sqrt(10)
		}
	}
	return points, interrupt(crawl)
}

// growthNow waits for samplePeriod, and looks.
func growthNow(ctx context.Context, crawl *child.Process, metrics string) (p growthPoint, err error) {
	select {
	case <-crawl.Ended:
		return p, errors.New("the crawl has ended")
	default:
	}
	if err := wait(ctx, samplePeriod); err != nil {
		return p, err
	}
	got, err := counters(ctx, metrics)
	if err != nil {
		return p, err
	}
	p.known, p.pages = got[`weft_deduped_urls_total{result="new"}`], got["weft_pages_total"]
	p.cpu, err = processCPU(crawl.Process.Pid)
	return p, err
}

// counters reads the metrics that a crawl serves, by their lines. It returns none if the crawl does
// not serve them yet.
func counters(ctx context.Context, url string) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, ctx.Err()
	}
	defer resp.Body.Close()
	all := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			all[name] = value
		}
	}
	return all, lines.Err()
}
