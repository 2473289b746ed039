package crawl_test

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// settable is the wall clock of a process, off by the first of some amounts,
// and by the next one after each SIGUSR1.
func settable(off []time.Duration) func() time.Time {
	var now atomic.Int64
	now.Store(int64(off[0]))
	set := make(chan os.Signal, len(off))
	signal.Notify(set, syscall.SIGUSR1)
	go func() {
		for _, d := range off[1:] {
			<-set
			now.Store(int64(d))
		}
	}()
	return func() time.Time { return time.Now().Add(time.Duration(now.Load())) }
}

// The clock is set back and forward, by seconds and by a year, while the crawl runs and between
// its runs, and it is killed besides. No domain gets a request too early, nothing waits until
// the clock is right again, and the only repeated requests are those in flight at a kill, and
// robots.txt files that are a year old.
func TestClockIsSet(t *testing.T) {
	if testing.Short() {
		t.Skip("crawls politely for half a minute")
	}
	t.Parallel()
	const (
		delay = 100 * time.Millisecond
		year  = 365 * 24 * time.Hour
	)
	w := serve(t, webserver.Options{Pages: 1300, Domains: 12, CrossLinks: 0.1}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
	p := process{Dir: t.TempDir(), DelayMS: delay.Milliseconds(), Seeds: w.server.Seeds(), WARC: true}
	var kills []int64
	var off time.Duration
	for _, p.Off = range [][]time.Duration{
		{0, -time.Hour, time.Hour},             // back and forward
		{-2 * time.Second, 0},                  // and back between runs
		{year, -time.Minute, -3 * time.Second}, // a year ahead, for a while
		{-year, -time.Hour},
		{0}, // an hour passed between two runs
	} {
		c := p.start(t)
		for i, now := range p.Off {
			if i > 0 {
				c.signal(syscall.SIGUSR1)
			}
			if now-off > time.Hour {
				w.days = append(w.days, time.Now().UnixNano())
			}
			off = now
			w.reaches(t, 70, c)
		}
		kills = append(kills, c.kill())
		p.Seeds = nil
	}
	p.Off = nil
	p.drains(t)

	archived := responses(t, p.options())
	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	holds(t, w, read(t, lines(t, p.options())))
	settlements(t, w, p.options())
	w.isArchived(t, archived)
	w.repeatsOnlyInFlight(t, archived, kills)
	t.Logf("the server's log:\n%v", report)
}
