package verify_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/verify"
	"github.com/weftcrawl/weft/verify/accesslog"
	"github.com/weftcrawl/weft/webtest"
)

// TestCrawlIsProven runs a whole crawl, in three runs of which two are
// interrupted, and proves it by its topics and the web server's log. Verifying
// while it runs must prove it too.
func TestCrawlIsProven(t *testing.T) {
	for name, c := range map[string]struct {
		latency   time.Duration
		delayMS   int64
		perDomain int
	}{
		"polite":          {0, 20, 1},
		"a slow server":   {15 * time.Millisecond, 5, 1},
		"several at once": {5 * time.Millisecond, 20, 3},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "polite" {
				t.Skip("takes 8 s")
			}
			t.Parallel()
			isProven(t, webtest.ServerOptions{Latency: c.latency}, topics.Definition{
				Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: c.perDomain, DelayMS: c.delayMS, UserAgent: "weft/test", AllowPrivate: true,
			})
		})
	}
}

func isProven(t *testing.T, so webtest.ServerOptions, d topics.Definition) {
	web, err := webtest.NewGenerated(webtest.Options{
		Pages: 150, Domains: 6, CrossLinks: 0.1, DeniedEvery: 10, ErrorEvery: 20, RedirectEvery: 20, NoRobotsEvery: 3,
		CrawlDelayEvery: 2, CrawlDelay: 50 * time.Millisecond,
		MedianBytes: 3 << 10, MeanBytes: 6 << 10, Links: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	so.Log = log
	server, err := webtest.Serve(web, so)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	o := crawl.Options{
		Dir: t.TempDir(), Definition: d, Fetch: processors.DefaultFetchOptions(), Logger: slog.New(slog.DiscardHandler),
	}
	o.Fetch.Client.AllowPrivate = true
	for _, seed := range server.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	for _, after := range []int64{20, 90, 0} {
		runUntil(t, o, server, after)
		o.Seeds = nil
		if err := server.FlushLog(); err != nil {
			t.Fatal(err)
		}
		format, err := accesslog.Named("weft")
		if err != nil {
			t.Fatal(err)
		}
		opts := verify.DefaultOptions("weft")
		opts.Log = &verify.Log{Files: []string{log.Name()}, Format: format, Tolerance: -1}
		report := verified(t, o.Dir, opts)
		if !report.Proven {
			t.Fatalf("after %d pages:\n%s", after, text(t, report))
		}
		for _, p := range report.Proofs {
			if p.Shown == 0 || len(p.Unproven) > 0 {
				t.Errorf("%s is not shown: %+v", p.Claim, p)
			}
		}
	}
}

// runUntil runs a crawl until so many pages are served, at least one of them by
// this run, or, with 0, to its end. While it runs it is proven once.
func runUntil(t *testing.T, o crawl.Options, server *webtest.Server, pages int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	begun := server.PagesServed()
	go func() {
		_, err := crawl.Run(ctx, o)
		ended <- err
	}()
	if pages > 0 {
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for server.PagesServed() < max(pages, begun+1) && len(ended) == 0 && ctx.Err() == nil {
			<-ticker.C
		}
		if report := verified(t, o.Dir, verify.DefaultOptions("weft")); !report.Proven {
			t.Errorf("while it runs:\n%s", text(t, report))
		}
		cancel()
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// verified is the report on the crawl in a directory.
func verified(t *testing.T, dir string, opts verify.Options) *verify.Report {
	t.Helper()
	addr, release, err := crawl.Reach(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	opts.Client = []kgo.Opt{kgo.SeedBrokers(addr)}
	report, err := verify.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
