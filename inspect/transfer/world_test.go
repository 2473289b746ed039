package transfer_test

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/transfer"
	"github.com/weftcrawl/weft/inspect/verify"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline bounds a test that waits for brokers.
func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// newCluster returns the address of a broker that keeps nothing on disk.
func newCluster(t *testing.T) string {
	t.Helper()
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return net.Listen("tcp4", "127.0.0.1:0") }),
		kfake.BrokerConfigs(map[string]string{"message.max.bytes": "16777216", "group.min.session.timeout.ms": "1000"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()[0]
}

func at(addr string) []kgo.Opt { return []kgo.Opt{kgo.SeedBrokers(addr), kgo.DisableClientMetrics()} }

// reach opens the broker of a data directory, which is made if it is not there,
// and returns its address.
func reach(t *testing.T, dir string) (addr string, release func()) {
	t.Helper()
	b, err := broker.Open(broker.Options{Dir: filepath.Join(dir, "broker"), Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Addr(), func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// serve serves a generated web until the test ends.
func serve(t *testing.T, o webserver.Options, so webserver.ServerOptions) (*webserver.Generated, *webserver.Server) {
	t.Helper()
	if o.MedianBytes == 0 {
		o.MedianBytes, o.MeanBytes, o.Links = 3<<10, 6<<10, 20
	}
	web, err := webserver.NewGenerated(o)
	if err != nil {
		t.Fatal(err)
	}
	server, err := webserver.Serve(web, so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return web, server
}

// options of a crawl of that web in a new data directory.
func options(t *testing.T, server *webserver.Server) crawl.Options {
	o := crawl.Options{
		Dir: t.TempDir(), Fetch: fetch.DefaultOptions(), Logger: slog.New(slog.DiscardHandler),
		Definition: topics.Definition{
			Crawl: "weft", Scope: "host", MaxDepth: -1, PerDomain: 1, DelayMS: 20, UserAgent: "weft/test", AllowPrivate: true,
		},
	}
	o.Fetch.Client.AllowPrivate = true
	o.Fetch.SessionTimeout, o.Fetch.LeaseMargin = 3*time.Second, time.Second
	for _, seed := range server.Seeds() {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	return o
}

// crawlUntil crawls until so many pages are served, or, with 0, to the end.
func crawlUntil(t *testing.T, o crawl.Options, server *webserver.Server, pages int64) crawl.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	type end struct {
		result crawl.Result
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, err := crawl.Run(ctx, o)
		ended <- end{result, err}
	}()
	if pages > 0 {
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for server.PagesServed() < pages && ctx.Err() == nil {
			<-ticker.C
		}
		cancel()
	}
	e := <-ended
	if e.err != nil {
		t.Fatal(e.err)
	}
	return e.result
}

// proven verifies a crawl from its topics.
func proven(t *testing.T, addr, name string) {
	t.Helper()
	opts := verify.DefaultOptions(name)
	opts.Client = at(addr)
	report, err := verify.Run(deadline(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Proven {
		t.Errorf("%s is refuted: %+v", name, report.Violations)
	}
}

// opened opens an export.
func opened(t *testing.T, dir string) *transfer.Archive {
	t.Helper()
	a, err := transfer.OpenArchive(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// bodiesOf opens the large bodies of a crawl in a data directory.
func bodiesOf(dir string) transfer.OpenBodies {
	return func(ctx context.Context, location string) (blob.Bucket, error) {
		return crawl.OpenBodies(ctx, dir, location)
	}
}
