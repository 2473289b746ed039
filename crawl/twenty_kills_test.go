package crawl_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/webtest"
)

// moment is when a crawler is killed.
type moment struct {
	// asked is how many requests more it makes first; one is then held open.
	// Negative: none is waited for.
	asked int64
	// stop sends an interrupt first.
	stop bool
	// pause is how long it is let go on, after its start or the interrupt.
	pause time.Duration
}

func (m moment) String() string {
	switch {
	case m.stop:
		return fmt.Sprintf("%v after an interrupt at request %d", m.pause, m.asked)
	case m.asked < 0:
		return fmt.Sprintf("%v after its start", m.pause)
	}
	return fmt.Sprintf("at request %d", m.asked)
}

// moments draws n moments, a third of each kind: in the middle of its work, on
// its way there (start, recovery, claims, takeover), and on its way out (the
// last reports, flushes, checkpoints).
func moments(random *rand.Rand, n int) []moment {
	all := make([]moment, n)
	for i := range all {
		switch i % 3 {
		case 0:
			all[i] = moment{asked: random.Int64N(120)}
		case 1:
			all[i] = moment{asked: -1, pause: time.Duration(random.Int64N(int64(2500 * time.Millisecond)))}
		case 2:
			all[i] = moment{asked: random.Int64N(40), stop: true, pause: time.Duration(random.Int64N(int64(400 * time.Millisecond)))}
		}
	}
	random.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// dies runs the process until a moment at which it is killed, and returns when
// it was gone.
func (p process) dies(t *testing.T, w *web, m moment) (gone int64) {
	t.Helper()
	var a *alarm
	if m.asked >= 0 {
		a = w.at(m.asked)
		defer a.release()
	}
	c := p.start(t)
	if a != nil {
		select {
		case <-a.reached:
		case <-c.ended:
			t.Fatalf("ended %q before it was killed %v:\n%s", c.out.String(), m, c.err.String())
		}
	}
	if m.stop {
		a.release()
		c.signal(syscall.SIGINT)
	}
	// Not to wait for something: the moment is what is drawn.
	select {
	case <-c.ended:
	case <-time.After(m.pause):
	}
	return c.kill()
}

// The heart of the promise: whenever the process is killed, and however often,
// no page is lost, nobody is hurried, and only what was in flight is asked for
// again.
func TestTwentyKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; TestKilledCrawlStaysPolite kills three times")
	}
	t.Parallel()
	const delay = 200 * time.Millisecond
	w := serve(t, webtest.Options{
		Pages: 2400, Domains: 40, CrossLinks: 0.1, DeniedEvery: 20, ErrorEvery: 30, RedirectEvery: 30, NoRobotsEvery: 7,
	}, webtest.ServerOptions{Latency: 5 * time.Millisecond})
	p := process{Dir: t.TempDir(), DelayMS: delay.Milliseconds(), Seeds: w.server.Seeds(), WARC: true}
	seed := rand.Uint64()
	plan := moments(rand.New(rand.NewPCG(seed, 0)), 20)
	t.Logf("seed %d: killed %v", seed, plan)
	var kills []int64
	for _, m := range plan {
		kills = append(kills, p.dies(t, w, m))
		if w.asked.Load() > 0 {
			p.Seeds = nil // else it may have died before they were written
		}
	}
	p.drains(t)

	report := w.audit(t, webtest.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	t.Logf("the server's log:\n%v", report)
	o := p.options()
	archived := responses(t, o)
	w.isArchived(t, archived)
	w.repeatsOnlyInFlight(t, archived, kills)
	written := lines(t, o)
	holds(t, w, read(t, written))
	t.Run("ledger", func(t *testing.T) { settledOnce(t, w, o) })
	t.Run("parsed", func(t *testing.T) { equalsTopic(t, o, written) })
}

// repeatsOnlyInFlight judges every request for a URL that had been asked for
// before. The earlier one was in flight when the process died: the server had
// begun to answer, or had answered, but the record of the exchange was not
// acknowledged in fetched. Archives hold what was: exactly one exchange of each
// URL (perhaps written twice, under one id), and it is the last request's.
func (w *web) repeatsOnlyInFlight(t *testing.T, archived map[string][]response, kills []int64) {
	t.Helper()
	requests := map[string][]webtest.Entry{}
	for _, e := range w.server.Entries() {
		url := w.url(e.Domain, e.Path)
		requests[url] = append(requests[url], e)
	}
	for url, all := range requests {
		slices.SortFunc(all, func(a, b webtest.Entry) int { return cmp.Compare(a.Start, b.Start) })
		last := all[len(all)-1]
		for _, e := range all[:len(all)-1] {
			if i := slices.IndexFunc(kills, func(k int64) bool { return k > e.Start }); i < 0 || kills[i]-e.End > int64(inFlight) {
				t.Errorf("%s was asked for again, although nobody was killed when it was: %v", url, all)
			}
		}
		if last.Path == "/robots.txt" {
			continue // its exchange is not one of fetched
		}
		exchanges := archived[url]
		if len(exchanges) == 0 {
			t.Errorf("%s was asked for, and has no record: %v", url, all)
			continue
		}
		for _, x := range exchanges {
			if x != exchanges[0] {
				t.Errorf("%s has two exchanges in fetched, of %v and %v; the requests were %v", url, exchanges[0].began, x.began, all)
			}
		}
		if before := len(all) - 2; before >= 0 && exchanges[0].began.UnixNano() < all[before].Start {
			t.Errorf("%s was asked for again, although its exchange was in fetched: %v", url, all)
		}
	}
}

// inFlight is how long before a kill the server may have ended a response whose
// record was not acknowledged. It takes milliseconds; a machine that is busy
// with other tests may take more.
const inFlight = time.Second

// Runs of a crawl that is ended are no runs: nothing is asked for again.
func TestKilledAtTheEnd(t *testing.T) {
	t.Parallel()
	w := serve(t, webtest.Options{Pages: 60, Domains: 6}, webtest.ServerOptions{})
	p := process{Dir: t.TempDir(), Seeds: w.server.Seeds()}
	p.drains(t)
	asked := w.asked.Load()
	for _, pause := range []time.Duration{0, 150 * time.Millisecond, 600 * time.Millisecond} {
		p.dies(t, w, moment{asked: -1, pause: pause})
	}
	p.drains(t)
	if again := w.asked.Load() - asked; again > 0 {
		t.Errorf("%d requests after the crawl was drained", again)
	}
	if n := len(lines(t, configured(p.Dir))); n != 60 {
		t.Errorf("%d lines, want 60", n)
	}
}
