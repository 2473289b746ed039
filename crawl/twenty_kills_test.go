package crawl_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
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

// The heart of the promise: whenever the process is killed, and however often, no page is lost,
// no request breaks a domain's delay, and only requests in flight are repeated.
func TestTwentyKills(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; TestKilledCrawlStaysPolite kills three times")
	}
	t.Parallel()
	const delay = 200 * time.Millisecond
	w := serve(t, webserver.Options{
		Pages: 3000, Domains: 40, CrossLinks: 0.1, DeniedEvery: 20, ErrorEvery: 30, RedirectEvery: 30, NoRobotsEvery: 7,
	}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
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

	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
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

// repeatsOnlyInFlight judges what was asked for again. When the process died the
// earlier request was in flight: the server had begun to answer, or had
// answered, but the record of the exchange was not acknowledged in fetched.
// Archives hold what was: exactly one exchange of each URL, and it is the last request's.
func (w *web) repeatsOnlyInFlight(t *testing.T, archived map[string][]response, kills []int64) {
	t.Helper()
	var outages []webserver.Outage
	for _, k := range kills {
		outages = append(outages, webserver.Kill(k))
	}
	w.repeatsOnlyIn(t, outages)
	for url, all := range w.requests() {
		if all[0].Path == "/robots.txt" {
			continue // the process that goes on asks for it again
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
