package crawl_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// signalled is how long a process may take to stop or to go on when it is told to
// (SIGSTOP, SIGCONT).
const signalled = 100 * time.Millisecond

// A whole crawl is stopped (SIGSTOP) for longer than its leases and sessions
// last, and continued: as a laptop that slept.
func TestFrozenCrawlGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for sessions to end")
	}
	t.Parallel()
	const delay, session = 100 * time.Millisecond, 2 * time.Second
	w := serve(t, webserver.Options{Pages: 600, Domains: 12, CrossLinks: 0.1}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
	p := process{
		Dir: t.TempDir(), DelayMS: delay.Milliseconds(), Seeds: w.server.Seeds(), SessionMS: session.Milliseconds(), WARC: true,
	}
	c := p.start(t)
	var frozen []webserver.Outage
	for range 3 {
		w.reaches(t, 80, c)
		from := time.Now()
		c.signal(syscall.SIGSTOP)
		time.Sleep(session * 3 / 2)
		c.signal(syscall.SIGCONT)
		frozen = append(frozen, webserver.Outage{From: from.UnixNano(), To: time.Now().UnixNano()})
	}
	c.drains(t)
	report := w.completes(t, p, read(t, lines(t, p.options())))
	w.isArchived(t, responses(t, p.options()))
	w.repeatsOnlyIn(t, frozen)
	t.Logf("the server's log:\n%v", report)
}

// Two crawlers share Apache Kafka. One is stopped until the other has its
// partitions and works on them, and wakes up as the owner that it is no more;
// then the other.
func TestZombies(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for sessions to end")
	}
	t.Parallel()
	const delay, session = 100 * time.Millisecond, 2 * time.Second
	w := serve(t, webserver.Options{Pages: 3200, Domains: 16, CrossLinks: 0.1}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
	cluster := withShortSessions(t)
	var ps [2]process
	var crawlers [2]*child
	for i := range ps {
		ps[i] = process{
			Dir: t.TempDir(), Brokers: cluster.Addrs(), DelayMS: delay.Milliseconds(), SessionMS: session.Milliseconds(),
			Seeds: w.server.Seeds(),
		}
		crawlers[i] = ps[i].start(t)
	}
	var frozen []webserver.Outage
	var awake []int64
	var woken []webserver.Outage
	for i := range 4 {
		w.reaches(t, 120, crawlers[0])
		from := time.Now()
		stopped, other := crawlers[i%2], crawlers[1-i%2]
		stopped.signal(syscall.SIGSTOP)
		time.Sleep(2 * session)
		w.reaches(t, 120, other) // with all partitions
		woke := time.Now()
		stopped.signal(syscall.SIGCONT)
		frozen = append(frozen, webserver.Outage{From: from.Add(-acknowledging).UnixNano(), To: from.Add(signalled).UnixNano()},
			webserver.Outage{From: woke.UnixNano(), To: woke.Add(2 * session).UnixNano()})
		awake = append(awake, woke.UnixNano())
		woken = append(woken, webserver.Outage{From: woke.UnixNano(), To: woke.Add(signalled).UnixNano()})
	}
	for i, c := range crawlers {
		c.drains(t)
		holds(t, w, read(t, lines(t, ps[i].options())))
	}
	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay), Woken: woken})
	w.repeatsOnlyIn(t, frozen, awake...)
	t.Logf("the server's log:\n%v", report)
}
