package transfer_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/transfer"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// TestNobodyIsHurriedByAMove stops a crawl right after a request, moves it into a
// new data directory, where no broker and no partition has ever been, and goes
// on at once: the next request waits for its delay all the same.
func TestNobodyIsHurriedByAMove(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for delays of 2 s")
	}
	const delay = 2 * time.Second
	web, server := serve(t, webserver.Options{Pages: 8, Domains: 2, NoRobotsEvery: 1}, webserver.ServerOptions{})
	o := options(t, server)
	o.Definition.DelayMS = delay.Milliseconds()
	crawlUntil(t, o, server, 3)
	addr, release := reach(t, o.Dir)
	dir := filepath.Join(t.TempDir(), "export")
	_, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "weft", Dir: dir, Client: at(addr), Bodies: bodiesOf(o.Dir)})
	release()
	if err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Seeds = t.TempDir(), nil
	addr, release = reach(t, o.Dir)
	_, err = transfer.Import(deadline(t), opened(t, dir), transfer.ImportOptions{
		Client: at(addr), Partitions: 6, Bodies: topics.InData, OpenBodies: bodiesOf(o.Dir),
	})
	release()
	if err != nil {
		t.Fatal(err)
	}
	if result := crawlUntil(t, o, server, 0); result.Ended != crawl.EndedDrained || result.Pages != 8 {
		t.Errorf("ended %s with %d pages", result.Ended, result.Pages)
	}
	report := webserver.Audit(server.Entries(), webserver.Expect{Pages: web.Pages(), Delay: func(string) time.Duration { return delay }})
	if report.Short > 0 || report.Overlaps > 0 || report.Repeats > 0 || len(report.Missing) > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
}
