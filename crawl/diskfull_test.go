package crawl_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/test/webserver"
)

// hardship is how long a test lets a crawler suffer. It is no wait for
// anything: what has to hold holds however long it is.
const hardship = 4 * time.Second

// completes checks that a crawl with faults fetched everything, and broke no domain's delay: with
// pages, from its files of them.
func (w *web) completes(t *testing.T, p process, pages []codecs.Parsed) webserver.AuditReport {
	t.Helper()
	delay := time.Duration(p.DelayMS) * time.Millisecond
	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	holds(t, w, pages)
	t.Run("ledger", func(t *testing.T) { settledOnce(t, w, p.options()) })
	return report
}

// crowded is a crawl during which another program filled the disk to the last byte.
type crowded struct {
	web     *web
	disk    disk
	process process
	crawler *child
}

// crowd crawls on a small disk, with pages in a file (empty: on that disk, too),
// and fills it.
func crowd(t *testing.T, pages string) crowded {
	t.Helper()
	w := serve(t, webserver.Options{Pages: 300, Domains: 6}, webserver.ServerOptions{})
	d := newDisk(t, "64")
	p := process{
		Dir: filepath.Join(d.dir, "data"), DelayMS: 20, Seeds: w.server.Seeds(), Reserve: 1, WARC: true, Pages: pages,
	}
	a := w.at(60)
	c := p.start(t)
	a.wait(t)
	d.fill(t, 0)
	a.release()
	return crowded{w, d, p, c}
}

// completes checks that the crawl got everything, with these lines of pages.
func (c crowded) completes(t *testing.T, written []string) {
	t.Helper()
	report := c.web.completes(t, c.process, read(t, written))
	c.web.isArchived(t, responses(t, c.process.options()))
	t.Logf("the server's log:\n%v", report)
}

// The disk fills up in the middle of the crawl. Files of pages cannot be
// written: that is said, and the end.
func TestDiskFull(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk, and waits")
	}
	t.Parallel()
	if !mounting(t) {
		return
	}
	c := crowd(t, "")
	c.crawler.fails(t, "no space left on device", "pages-000001.jsonl")

	// Without room it does not begin either, and says why.
	c.process.Seeds = nil
	c.process.start(t).fails(t, "no space left on device")

	c.disk.empty(t)
	c.process.drains(t)
	written := lines(t, c.process.options())
	c.completes(t, written)
	t.Run("parsed", func(t *testing.T) { equalsTopic(t, c.process.options(), written) })
}

// The same with pages on another disk: the loop waits for room, and goes on.
func TestDiskFullForAWhile(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk, and waits")
	}
	t.Parallel()
	if !mounting(t) {
		return
	}
	c := crowd(t, filepath.Join(t.TempDir(), "pages.jsonl"))
	time.Sleep(hardship)
	c.disk.empty(t)
	c.crawler.drains(t)
	raw, err := os.ReadFile(c.process.Pages)
	if err != nil {
		t.Fatal(err)
	}
	c.completes(t, strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n"))
}

// Below the reserve nothing is fetched, at the start or on the way; above it
// the crawl goes on by itself, and nothing is asked for twice.
func TestReserveHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk, and waits")
	}
	t.Parallel()
	if !mounting(t) {
		return
	}
	w := serve(t, webserver.Options{Pages: 200, Domains: 4}, webserver.ServerOptions{})
	d := newDisk(t, "64")
	const reserve = 32 << 20
	d.fill(t, reserve/2)
	p := process{Dir: filepath.Join(d.dir, "data"), DelayMS: 20, Seeds: w.server.Seeds(), Reserve: reserve}
	c := p.start(t)
	time.Sleep(hardship)
	if n := w.asked.Load(); n > 0 {
		t.Errorf("%d requests below the reserve", n)
	}
	a := w.at(60)
	d.empty(t)
	a.wait(t)
	d.fill(t, reserve/2)
	a.release()
	time.Sleep(hardship) // it looks every two seconds
	held := w.asked.Load()
	time.Sleep(hardship / 4)
	if n := w.asked.Load(); n > held {
		t.Errorf("%d requests below the reserve", n-held)
	}
	// An interrupt ends it here, too.
	c.signal(syscall.SIGINT)
	if status, out, err := c.end(t); status != 0 {
		t.Errorf("status %d after an interrupt: %s%s", status, out, err)
	}
	p.Seeds = nil
	c = p.start(t)
	time.Sleep(hardship / 4)
	d.empty(t)
	c.drains(t)
	if report := w.completes(t, p, read(t, lines(t, p.options()))); report.Repeats > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
}
