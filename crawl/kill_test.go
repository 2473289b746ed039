package crawl_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/webtest"
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

// settledOnce folds the ledger: when was each URL settled for good? A request
// after that moment is one too many, whatever was killed.
func settledOnce(t *testing.T, w *web, o crawl.Options) {
	t.Helper()
	visits := map[string]*weftpb.Visit{}
	settled := map[string]int64{} // URL → milliseconds since 1970
	epochs := map[int32]int64{}
	for _, r := range readTopic(t, reopened(t, o), topics.Loop(o.Definition.Crawl).Scheduled) {
		var ev weftpb.Event
		var body weftpb.Scheduled
		if err := proto.Unmarshal(r.Value, &ev); err != nil {
			t.Fatal(err)
		}
		if ev.Claim != nil {
			epochs[r.Partition] = r.Offset + 1
			continue
		}
		if ev.Epoch != epochs[r.Partition] {
			continue // of an owner that was killed
		}
		if err := proto.Unmarshal(ev.Body, &body); err != nil {
			t.Fatal(err)
		}
		for _, v := range body.Released {
			visits[v.Id] = v
		}
		for _, s := range body.Settled {
			if s.RetryMs != 0 {
				continue
			}
			url := s.Url
			if v := visits[s.Visit]; v != nil {
				if v.Robots {
					continue
				}
				url = v.Requests[s.Index].Target.Url
			}
			if settled[url] != 0 {
				t.Errorf("%s is settled twice", url)
			}
			settled[url] = body.DecidedMs
		}
	}
	for domain, path := range w.Pages() {
		if settled[w.url(domain, path)] == 0 {
			t.Errorf("%s%s was never settled", domain, path)
		}
	}
	for _, e := range w.server.Entries() {
		if at := settled[w.url(e.Domain, e.Path)]; at != 0 && e.Start/1e6 > at {
			t.Errorf("%s%s was asked for %d ms after it was settled", e.Domain, e.Path, e.Start/1e6-at)
		}
	}
}

func TestKilledCrawlLosesNothing(t *testing.T) {
	t.Parallel()
	w := serve(t, everything, webtest.ServerOptions{})
	o := configured(t.TempDir())
	// The first in the middle of robots.txt files and roots.
	killed(t, w, process{Dir: o.Dir, Seeds: w.server.Seeds()}, 10, 80, 120)
	w.audit(t, webtest.Expect{Pages: w.Pages()})
	written := lines(t, o)
	holds(t, w, read(t, written))
	equalsTopic(t, o, written)
}

func TestKilledCrawlStaysPolite(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	w := serve(t, webtest.Options{Pages: 240, Domains: 8, CrossLinks: 0.1}, webtest.ServerOptions{})
	o := configured(t.TempDir())
	kills := killed(t, w, process{Dir: o.Dir, DelayMS: delay.Milliseconds(), Seeds: w.server.Seeds()}, 40, 70, 90)
	report := w.audit(t, webtest.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	// Of each domain the request in flight is made again, and perhaps one whose
	// exchange was not acknowledged yet.
	if most := len(kills) * w.Options().Domains * 2; report.Repeats > most {
		t.Errorf("more than %d repeats:\n%v", most, report)
	}
	holds(t, w, read(t, lines(t, o)))
	settledOnce(t, w, o)
}
