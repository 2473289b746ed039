package crawl_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/webserver"
)

// delay is what a domain of the web may expect of a crawl: its own
// Crawl-delay where that is longer. It is taken from robots.txt as served.
func (w *web) delay(own time.Duration) func(string) time.Duration {
	o := w.Options()
	longer := map[string]bool{}
	for i, domain := range w.Domains() {
		longer[domain] = o.CrawlDelayEvery > 0 && i%o.CrawlDelayEvery == o.CrawlDelayEvery-1
	}
	return func(domain string) time.Duration {
		if longer[domain] {
			return max(own, o.CrawlDelay)
		}
		return own
	}
}

func TestNoIntervalIsShort(t *testing.T) {
	t.Parallel()
	const delay = 300 * time.Millisecond
	w := serve(t, webserver.Options{
		Pages: 100, Domains: 10, CrossLinks: 0.1, RedirectEvery: 5, NoRobotsEvery: 4,
		CrawlDelayEvery: 10, CrawlDelay: 600 * time.Millisecond,
	}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
	o := options(t, w)
	o.Definition.DelayMS = delay.Milliseconds()
	run(t, o, crawl.EndedDrained)
	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	if report.Repeats > 0 || report.Intervals < 100 {
		t.Errorf("the server's log:\n%v", report)
	}
}
