package crawl_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/webtest"
)

// serve serves a generated web until the test ends.
func serve(t *testing.T, o webtest.Options) (*webtest.Generated, *webtest.Server) {
	t.Helper()
	web, err := webtest.NewGenerated(o)
	if err != nil {
		t.Fatal(err)
	}
	server, err := webtest.Serve(web, webtest.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return web, server
}

func options(t *testing.T, server *webtest.Server) crawl.Options {
	t.Helper()
	fetching := processors.DefaultFetchOptions()
	fetching.Client.AllowPrivate = true
	o := crawl.Options{
		Dir: filepath.Join(t.TempDir(), "data"),
		Definition: topics.Definition{
			Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: 1, UserAgent: "weft/test", AllowPrivate: true,
		},
		Fetch:  fetching,
		Logger: slog.New(slog.DiscardHandler),
	}
	if os.Getenv("WEFT_TEST_LOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	for _, seed := range server.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	return o
}

func TestCrawlReachesEveryPageOnce(t *testing.T) {
	web, server := serve(t, webtest.Options{Pages: 300, Domains: 6, CrossLinks: 0.1, DeniedEvery: 10, ErrorEvery: 20, RedirectEvery: 20, })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := crawl.Run(ctx, options(t, server))
	if err != nil {
		t.Fatal(err)
	}
	report := webtest.Audit(server.Entries(), webtest.Expect{Pages: web.Pages(), Denied: web.Denied})
	if result.Ended != crawl.EndedDrained || result.Pages != 300 {
		t.Errorf("ended %s with %d pages", result.Ended, result.Pages)
	}
	if len(report.Missing) > 0 || report.Repeats > 0 || report.BeforeRobots > 0 || report.Denied > 0 || report.Overlaps > 0 {
		t.Errorf("the server's log: %+v", report)
	}
}
