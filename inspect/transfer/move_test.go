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

// TestACrawlGoesOnElsewhere crawls half a web on an embedded broker, moves the
// crawl to a cluster with another name and number of partitions, crawls more,
// and moves it into a data directory, where it ends.
func TestACrawlGoesOnElsewhere(t *testing.T) {
	web, server := serve(t, webserver.Options{
		Pages: 240, Domains: 12, CrossLinks: 0.1, DeniedEvery: 10, ErrorEvery: 20, RedirectEvery: 20, NoRobotsEvery: 3,
	}, webserver.ServerOptions{Latency: 5 * time.Millisecond})
	o := options(t, server)
	crawlUntil(t, o, server, 80)
	first := filepath.Join(t.TempDir(), "first")
	addr, release := reach(t, o.Dir)
	m, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "weft", Dir: first, Client: at(addr), Bodies: bodiesOf(o.Dir)})
	release()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d events, %d visited, %d fetched", m.Bytes(), m.Records("scheduled"), m.Records("visited"), m.Records("fetched"))

	cluster := newCluster(t)
	made, err := transfer.Import(deadline(t), opened(t, first), transfer.ImportOptions{
		Client: at(cluster), Crawl: "news", Partitions: 7, Replication: 1, Compression: "lz4",
	})
	if err != nil {
		t.Fatal(err)
	}
	if made.Pending == 0 || made.Definition.Partitions != 7 || made.Definition.FormerPartitions != 4 {
		t.Errorf("imported %+v", made)
	}
	proven(t, cluster, "news")
	o.Dir, o.Cluster.Brokers, o.Seeds, o.Definition.Crawl = t.TempDir(), []string{cluster}, nil, "news"
	crawlUntil(t, o, server, 160)
	proven(t, cluster, "news")

	second := filepath.Join(t.TempDir(), "second")
	if _, err := transfer.Export(deadline(t), transfer.ExportOptions{Crawl: "news", Dir: second, Client: at(cluster), Bodies: bodiesOf("")}); err != nil {
		t.Fatal(err)
	}
	o.Dir, o.Cluster.Brokers, o.Definition.Crawl = t.TempDir(), nil, "weft"
	addr, release = reach(t, o.Dir)
	_, err = transfer.Import(deadline(t), opened(t, second), transfer.ImportOptions{
		Client: at(addr), Crawl: "weft", Partitions: 2, Bodies: topics.InData, OpenBodies: bodiesOf(o.Dir),
	})
	if err == nil {
		proven(t, addr, "weft")
	}
	release()
	if err != nil {
		t.Fatal(err)
	}
	if result := crawlUntil(t, o, server, 0); result.Ended != crawl.EndedDrained {
		t.Errorf("ended %s", result.Ended)
	}
	addr, release = reach(t, o.Dir)
	defer release()
	proven(t, addr, "weft")
	report := webserver.Audit(server.Entries(), webserver.Expect{
		Pages: web.Pages(), Denied: web.Denied, Delay: func(string) time.Duration { return 20 * time.Millisecond },
	})
	if len(report.Missing) > 0 || report.Short > 0 || report.Overlaps > 0 || report.BeforeRobots > 0 || report.Denied > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
	t.Logf("%v", report)
}
