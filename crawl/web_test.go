package crawl_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// web is a generated web and its server, which can tell a test how far the
// crawler has come.
type web struct {
	*webserver.Generated
	server *webserver.Server
	asked  atomic.Int64
	// days are moments at which the crawler's clock leapt by a day or more, in
	// nanoseconds since 1970.
	days []int64
	// swell is how many invisible bytes a page has besides its own; nil: none.
	swell func(path string) int
	// alter changes the answer of the generated web; nil: none.
	alter func(domain, path string, answer *webserver.Response)

	closed sync.Once
	mu     sync.Mutex
	alarms map[int64]*alarm // by number of the request
}

// alarm goes off with a request, which waits until it is let go.
type alarm struct {
	reached, goOn chan struct{}
	once          sync.Once
}

// serve serves a generated web until the test ends.
func serve(t *testing.T, o webserver.Options, so webserver.ServerOptions) *web {
	t.Helper()
	if o.MedianBytes == 0 {
		o.MedianBytes, o.MeanBytes, o.Links = 3<<10, 6<<10, 20
	}
	generated, err := webserver.NewGenerated(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &web{Generated: generated, alarms: map[int64]*alarm{}}
	if w.server, err = webserver.Serve(w, so); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.close(t) })
	return w
}

// serveSite serves a site until the test ends.
func serveSite(t *testing.T, site webserver.Site) *webserver.Server {
	t.Helper()
	server, err := webserver.Serve(site, webserver.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func (w *web) close(t *testing.T) {
	w.closed.Do(func() {
		w.mu.Lock()
		for _, a := range w.alarms {
			a.release()
		}
		w.mu.Unlock()
		if err := w.server.Close(); err != nil {
			t.Errorf("close the web: %v", err)
		}
	})
}

// Answer implements webserver.Site.
func (w *web) Answer(domain string, port int, path string, buf []byte) webserver.Response {
	n := w.asked.Add(1)
	w.mu.Lock()
	a := w.alarms[n]
	w.mu.Unlock()
	if a != nil {
		close(a.reached)
		<-a.goOn
	}
	return w.answer(domain, port, path, buf)
}

// answer is Answer unseen.
func (w *web) answer(domain string, port int, path string, buf []byte) webserver.Response {
	answer := w.Generated.Answer(domain, port, path, buf)
	if w.swell != nil && answer.Status == 200 && path != "/robots.txt" {
		if n := w.swell(path); n > 0 {
			answer.Body = append(append(append(answer.Body, "<!-- "...), bytes.Repeat([]byte("x"), n)...), " -->"...)
		}
	}
	if w.alter != nil {
		w.alter(domain, path, &answer)
	}
	return answer
}

// at sets an alarm for the request that comes after n more.
func (w *web) at(n int64) *alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &alarm{reached: make(chan struct{}), goOn: make(chan struct{})}
	w.alarms[w.asked.Load()+n+1] = a
	return a
}

func (a *alarm) release() { a.once.Do(func() { close(a.goOn) }) }

// wait waits for the alarm.
func (a *alarm) wait(t *testing.T) {
	t.Helper()
	select {
	case <-a.reached:
	case <-time.After(patience):
		t.Fatal("the crawler never came so far")
	}
}

// reaches waits until n more requests were made by a crawler that has not ended.
func (w *web) reaches(t *testing.T, n int64, c *child) {
	t.Helper()
	a := w.at(n)
	defer a.release()
	select {
	case <-a.reached:
	case <-c.ended:
		t.Fatalf("the crawler ended before its time: %s%s", c.out.String(), c.err.String())
	case <-time.After(patience):
		t.Fatalf("no %d requests more after %v", n, patience)
	}
}

// audit judges the server's log. What it counts as a misdeed whatever the
// test, it reports.
func (w *web) audit(t *testing.T, expect webserver.Expect) webserver.AuditReport {
	t.Helper()
	expect.Denied = w.Denied
	report := webserver.Audit(w.server.Entries(), expect)
	if report.BeforeRobots > 0 || report.Denied > 0 || report.Overlaps > 0 || report.Short > 0 || len(report.Missing) > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
	return report
}

// url of a page.
func (w *web) url(domain, path string) string {
	return webserver.Origin(domain, w.server.Port()) + path
}
