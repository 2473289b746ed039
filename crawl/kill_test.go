package crawl_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// killed crawls a web, killing the crawler when it has made so many requests
// more, and again, and at last lets it end. It returns the moments of the
// kills in nanoseconds since 1970.
func killed(t *testing.T, w *web, p process, after ...int64) (kills []int64) {
	t.Helper()
	for _, n := range after {
		a := w.at(n)
		c := p.start(t)
		a.wait(t) // and holds one request open
		kills = append(kills, c.kill())
		a.release()
		p.Seeds = nil
	}
	p.drains(t)
	return kills
}

func TestKilledCrawlLosesNothing(t *testing.T) {
	t.Parallel()
	w := serve(t, everything, webserver.ServerOptions{})
	o := configured(t.TempDir())
	// The first in the middle of robots.txt files and roots.
	killed(t, w, process{Dir: o.Dir, Seeds: w.server.Seeds()}, 10, 80, 120)
	w.audit(t, webserver.Expect{Pages: w.Pages()})
	written := lines(t, o)
	holds(t, w, read(t, written))
	equalsTopic(t, o, written)
}

func TestKilledCrawlStaysPolite(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	w := serve(t, webserver.Options{Pages: 240, Domains: 8, CrossLinks: 0.1}, webserver.ServerOptions{})
	o := configured(t.TempDir())
	kills := killed(t, w, process{Dir: o.Dir, DelayMS: delay.Milliseconds(), Seeds: w.server.Seeds()}, 40, 70, 90)
	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	// Of each domain the request in flight is made again, and perhaps one whose
	// exchange was not acknowledged yet.
	if most := len(kills) * w.Options().Domains * 2; report.Repeats > most {
		t.Errorf("more than %d repeats:\n%v", most, report)
	}
	holds(t, w, read(t, lines(t, o)))
	settledOnce(t, w, o)
}
