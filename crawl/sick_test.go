package crawl_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// sickTimeout makes a host that does not answer cost a test little time.
const sickTimeout = time.Second

// crawlSick crawls a web with sick hosts until the server has answered for all wanted pages,
// given as host and path, and stops then. It fails the test if that takes longer than limit.
func crawlSick(t *testing.T, web *webserver.SickServer, wanted map[string]bool, limit time.Duration) {
	t.Helper()
	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Definition.Scope = "any"
	o.Fetch.Client.Resolver = web.Resolver()
	o.Fetch.Client.ConnectTimeout, o.Fetch.Client.FirstByteTimeout, o.Fetch.Client.TotalTimeout = sickTimeout, sickTimeout, 2*sickTimeout
	for _, seed := range web.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ended := started(ctx, o)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	missing := wanted
	for ctx.Err() == nil && len(missing) > 0 {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		missing = unanswered(web, wanted)
	}
	cancel()
	if _, err := ended(); err != nil {
		t.Error(err)
	}
	byHost := map[string]int{}
	for page := range missing {
		byHost[page[:strings.IndexByte(page, '/')]]++
	}
	for host, pages := range byHost {
		t.Errorf("%d pages of %s are missing after %v", pages, host, limit)
	}
}

// unanswered are the wanted pages that the server did not answer with status 200.
func unanswered(web *webserver.SickServer, wanted map[string]bool) map[string]bool {
	missing := map[string]bool{}
	for page := range wanted {
		missing[page] = true
	}
	for _, e := range web.Entries() {
		if e.Status == 200 {
			delete(missing, e.Domain+e.Path)
		}
	}
	return missing
}

// serveSick serves a web with one sick host of each kind until the test ends. It returns its
// healthy pages as host and path.
func serveSick(t *testing.T, o webserver.SickOptions) (*webserver.SickServer, map[string]bool) {
	t.Helper()
	o.MedianBytes, o.MeanBytes = 3<<10, 6<<10
	web, err := webserver.ServeSick(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
	})
	healthy := map[string]bool{}
	for host, path := range web.Pages() {
		healthy[host+path] = true
	}
	return web, healthy
}

// Healthy hosts share their domains with sick hosts of every kind and with dead names, and
// link to all of them. All pages of the healthy hosts are fetched, each once.
func TestSickHostsHarmOnlyThemselves(t *testing.T) {
	t.Parallel()
	web, healthy := serveSick(t, webserver.SickOptions{Domains: 3, Healthy: 6, Dead: 30, Pages: 40})
	crawlSick(t, web, healthy, time.Minute)
	var entries []webserver.Entry
	for _, e := range web.Entries() {
		if h := web.Host(e.Domain); h != nil && h.Healthy() {
			entries = append(entries, e)
		}
	}
	if report := webserver.Audit(entries, webserver.Expect{}); report.Repeats > 0 || report.BeforeRobots > 0 {
		t.Errorf("the server's log of healthy hosts:\n%v", report)
	}
}

// Sick hosts that can be crawled are crawled: after an outage, at the rate that a host
// permits, and behind broken pages.
func TestSickHostsYieldTheirPages(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for hosts that come back")
	}
	t.Parallel()
	web, wanted := serveSick(t, webserver.SickOptions{
		Pages: 20, Permits: 10, Window: 5 * time.Second, OutageFrom: 2 * time.Second, OutageUntil: 12 * time.Second, BusyUntil: 5 * time.Second,
	})
	for _, h := range web.Hosts() {
		if !h.Healthy() {
			for _, path := range web.GoodPages(h) {
				wanted[h.Name+path] = true
			}
		}
	}
	crawlSick(t, web, wanted, 5*time.Minute)
}
