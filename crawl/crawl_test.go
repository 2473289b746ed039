package crawl_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// TestMain runs a crawl and nothing else in a process that a test started to
// be killed; see child.
func TestMain(m *testing.M) {
	if config := os.Getenv(childConfig); config != "" {
		os.Exit(childMain(config))
	}
	goleak.VerifyTestMain(m, append(bySarama, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(scratch())
		os.Exit(code)
	}))...)
}

// scratch is a directory of all tests, which is removed when they have ended.
var scratch = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "weft-crawl-")
	if err != nil {
		panic(err)
	}
	return dir
})

// bySarama are the goroutines that sarama leaves. Tests read topics with it, as other
// programs do.
var bySarama = []goleak.Option{
	// Its metrics library starts one goroutine with the first meter, for all meters of
	// the process and for good.
	goleak.IgnoreTopFunction("github.com/rcrowley/go-metrics.(*meterArbiter).tick"),
	// v1.46 does not close a connection that one refresh of metadata opens again while
	// another gives its broker up. A client that is not closed itself shows by its other
	// goroutines.
	goleak.IgnoreTopFunction("github.com/IBM/sarama.(*Broker).responseReceiver"),
}

// options are the options of a crawl of the whole web, alone on its broker. Its session is
// long: a busy machine may keep a process from its heartbeats for as long as a lease lasts, and
// then what is in flight is asked for again.
func options(t *testing.T, w *web) crawl.Options {
	t.Helper()
	o := configured(filepath.Join(t.TempDir(), "data"))
	o.Fetch.SessionTimeout = time.Minute
	for _, seed := range w.server.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	return o
}

// configured are options of a crawl that is not polite, without seeds.
func configured(dir string) crawl.Options {
	fetching := fetch.DefaultOptions()
	fetching.Client.AllowPrivate = true
	o := crawl.Options{
		Dir: dir,
		Definition: topics.Definition{
			Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: 1, UserAgent: "weft/test", AllowPrivate: true,
			Sitemaps: topics.NoSitemaps, // tests count requests
		},
		Fetch:  fetching,
		Logger: slog.New(slog.DiscardHandler),
	}
	if os.Getenv("WEFT_TEST_LOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return o
}

// run runs a crawl that must end in the given way, and soon enough that a test
// does not hang.
func run(t *testing.T, o crawl.Options, ended string) crawl.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := crawl.Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Ended != ended {
		t.Fatalf("ended %s, want %s: %+v", result.Ended, ended, result)
	}
	return result
}

// started is a crawl that runs beside the test; ended waits for its end.
func started(ctx context.Context, o crawl.Options) (ended func() (crawl.Result, error)) {
	var (
		result crawl.Result
		err    error
		crawls sync.WaitGroup
	)
	crawls.Go(func() { result, err = crawl.Run(ctx, o) })
	return func() (crawl.Result, error) { crawls.Wait(); return result, err }
}

// everything is a web with all that a crawler may stumble upon, bodies of every
// size among it.
var everything = webserver.Options{
	MedianBytes: 2 << 10, MeanBytes: 26 << 10, Pages: 300, Domains: 7, CrossLinks: 0.1, DeniedEvery: 10, ErrorEvery: 20, RedirectEvery: 20, NoRobotsEvery: 3,
}

func TestCrawlReachesEveryPageOnce(t *testing.T) {
	t.Parallel()
	w := serve(t, everything, webserver.ServerOptions{})
	o := options(t, w)
	result := run(t, o, crawl.EndedDrained)
	report := w.audit(t, webserver.Expect{Pages: w.Pages()})
	if report.Repeats > 0 || report.RobotsRequests != everything.Domains {
		t.Errorf("the server's log:\n%v", report)
	}
	if report.Status[404] == 0 || report.Status[301] == 0 {
		t.Errorf("the web was too easy:\n%v", report)
	}
	written := lines(t, o)
	if result.Pages != int64(len(written)) || result.Bytes == 0 || result.Pending != 0 {
		t.Errorf("result %+v with %d lines", result, len(written))
	}
	if repeats := holds(t, w, read(t, written)); repeats > 0 {
		t.Errorf("%d pages are in the files twice", repeats)
	}
	equalsTopic(t, o, written)
}

// Not parallel, so that no other test's goroutines are about.
func TestRunLeavesNoGoroutine(t *testing.T) {
	w := serve(t, webserver.Options{Pages: 20, Domains: 2}, webserver.ServerOptions{})
	before := goleak.IgnoreCurrent()
	run(t, options(t, w), crawl.EndedDrained)
	w.close(t)
	goleak.VerifyNone(t, append(bySarama, before)...)
}

func TestPagesEndTheCrawl(t *testing.T) {
	t.Parallel()
	w := serve(t, webserver.Options{Pages: 400, Domains: 4}, webserver.ServerOptions{})
	o := options(t, w)
	o.Definition.MaxPages = 60
	for range 2 { // the second finds it full
		if result := run(t, o, crawl.EndedFull); result.Pages != 60 {
			t.Errorf("%d pages, want 60", result.Pages)
		}
		if n := len(lines(t, o)); n != 60 {
			t.Errorf("%d lines, want 60", n)
		}
		o.Seeds = nil
	}
}
