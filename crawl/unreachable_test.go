package crawl_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// Brokers that are not there are named in one sentence.
func TestNoBrokers(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.close()
	p := process{Dir: t.TempDir(), Brokers: []string{c.addr.String()}, Seeds: []string{"http://127.1.0.1/"}}
	p.start(t).fails(t, c.addr.String(), "connection refused")
}

// The brokers go away, in several ways and for shorter and for longer than a
// group's session lasts, and come back: the crawl goes on where it was.
func TestBrokersUnreachable(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for sessions to end")
	}
	t.Parallel()
	const delay, session = 100 * time.Millisecond, 3 * time.Second
	w := serve(t, webserver.Options{Pages: 900, Domains: 12, CrossLinks: 0.1}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
	c := newCluster(t)
	p := process{
		Dir: t.TempDir(), Brokers: []string{c.addr.String()}, DelayMS: delay.Milliseconds(), Seeds: w.server.Seeds(),
		SessionMS: session.Milliseconds(), WARC: true,
	}
	crawler := p.start(t)
	var gone []webserver.Outage
	for _, trouble := range []struct {
		name  string
		lasts time.Duration
		begin func() (end func())
	}{
		{"cut", 0, func() func() { c.cut(); return func() {} }},
		{"refused for a moment", session / 3, func() func() { c.close(); return func() { c.open(t) } }},
		{"held for a moment", session / 3, c.hold},
		{"refused for longer than a session", 2 * session, func() func() { c.close(); return func() { c.open(t) } }},
		{"held for longer than a session", 2 * session, c.hold},
		{"cut again", 0, func() func() { c.cut(); return func() {} }},
	} {
		w.reaches(t, 60, crawler)
		from := time.Now()
		end := trouble.begin()
		time.Sleep(trouble.lasts)
		end()
		gone = append(gone, webserver.Outage{From: from.UnixNano(), To: time.Now().UnixNano()})
		t.Logf("%s: %d requests so far", trouble.name, w.asked.Load())
	}
	crawler.drains(t)
	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	holds(t, w, read(t, lines(t, p.options())))
	w.isArchived(t, responses(t, p.options()))
	w.repeatsOnlyIn(t, gone)
	t.Logf("the server's log:\n%v", report)
}
