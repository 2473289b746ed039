package crawl_test

import (
	"flag"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// pages of the crawl in TestTeam; make cluster has tens of thousands.
var pages = flag.Int("pages", 3000, "pages of the crawl in TestTeam")

// A crawl on three brokers, in which all processes come and go: a process is added, one is
// stopped, each is started anew, one is killed and comes back, a broker is stopped for a while,
// and one that leads is killed.
func TestTeam(t *testing.T) {
	if testing.Short() {
		t.Skip("three brokers and three processes, for a minute and more")
	}
	const delay = 500 * time.Millisecond
	c := newTeam(t, webserver.Options{
		Pages: *pages, Domains: 40, CrossLinks: 0.1, DeniedEvery: 20, ErrorEvery: 30, RedirectEvery: 30, NoRobotsEvery: 7,
	}, delay, "a", "b", "c")
	some := int64(*pages) / 40

	c.goesOn(t, some)
	c.during(t, "one is added", some, func() { c.start(t, "d") })
	c.during(t, "one is stopped", some, func() { c.stop(t, "a") })
	for _, name := range []string{"b", "c", "d"} {
		c.during(t, name+" is started anew", some, func() {
			c.stop(t, name)
			c.start(t, name)
		})
	}
	c.during(t, "one is killed and comes back", some, func() {
		c.kill("b")
		c.start(t, "b")
	})
	scheduled := topics.Loop("weft").Scheduled
	stopped := c.leader(t, scheduled)
	// 11 s at the rate that politeness permits; a minute of 16,000 pages.
	c.during(t, "a broker is stopped", int64(*pages)*3/10, func() { c.brokers.Stop(t, stopped) })
	c.during(t, "it is back", some, func() { c.brokers.StartAgain(t, stopped) })
	killed := c.leader(t, scheduled, stopped)
	c.during(t, "a leader is killed", some, func() { c.brokers.Kill(t, killed) })
	c.during(t, "it is back", 0, func() { c.brokers.StartAgain(t, killed) })
	c.wellDone(t, patience+time.Duration(*pages)*10*time.Millisecond)
}

// Two of three brokers are away: nothing may be acknowledged, and nothing is
// lost. The crawl goes on when they are back.
func TestTooFewBrokers(t *testing.T) {
	if testing.Short() {
		t.Skip("three brokers, of which two go away")
	}
	t.Parallel()
	c := newTeam(t, webserver.Options{Pages: 1000, Domains: 20, CrossLinks: 0.1}, 100*time.Millisecond, "a", "b")
	c.goesOn(t, 270)
	c.during(t, "two brokers are killed", 0, func() {
		c.brokers.Kill(t, 2)
		c.brokers.Kill(t, 3)
		c.standsStill(t, 3*time.Second)
		c.brokers.StartAgain(t, 2)
		c.brokers.StartAgain(t, 3)
	})
	c.wellDone(t, patience)
}

// standsStill waits until nothing is asked for so long.
func (c *team) standsStill(t *testing.T, long time.Duration) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	begun, asked, since := time.Now(), c.asked.Load(), time.Now()
	for now := range ticker.C {
		switch n := c.asked.Load(); {
		case n != asked:
			asked, since = n, now
		case now.Sub(since) > long:
			return
		}
		if now.Sub(begun) > patience {
			t.Fatalf("requests are made still, %v after", patience)
		}
	}
}
