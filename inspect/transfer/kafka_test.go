package transfer_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/transfer"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// TestToApacheKafkaAndBack begins a crawl on the embedded broker, goes on with it
// on Apache Kafka, gives it other partitions there, and ends it at home.
func TestToApacheKafkaAndBack(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker")
	}
	kafka := kafkaserver.Start(t, kafkaserver.Options{}).Addrs()
	web, server := serve(t, webserver.Options{
		Pages: 200, Domains: 10, CrossLinks: 0.1, DeniedEvery: 10, ErrorEvery: 20, RedirectEvery: 20, NoRobotsEvery: 3,
	}, webserver.ServerOptions{Latency: 2 * time.Millisecond})
	o := options(t, server)
	crawlUntil(t, o, server, 50)
	move := func(from crawl.Options, to *crawl.Options, crawlTo string, partitions int32) {
		t.Helper()
		source, release := brokerOf(t, from)
		dir := filepath.Join(t.TempDir(), "export")
		_, err := transfer.Export(deadline(t), transfer.ExportOptions{
			Crawl: from.Definition.Crawl, Dir: dir, Client: at(source), Bodies: bodiesOf(from.Dir),
		})
		release()
		if err != nil {
			t.Fatal(err)
		}
		target, release := brokerOf(t, *to)
		defer release()
		options := transfer.ImportOptions{Client: at(target), Crawl: crawlTo, Partitions: partitions, Replication: 1}
		if len(to.Cluster.Brokers) == 0 {
			options.Bodies, options.OpenBodies = topics.InData, bodiesOf(to.Dir)
		}
		if _, err := transfer.Import(deadline(t), opened(t, dir), options); err != nil {
			t.Fatal(err)
		}
		to.Definition.Crawl = crawlTo
		proven(t, target, crawlTo)
	}
	there := o
	there.Dir, there.Cluster.Brokers, there.Seeds = t.TempDir(), kafka, nil
	there.Fetch.SessionTimeout, there.Fetch.LeaseMargin = 6*time.Second, 2*time.Second // what its brokers permit
	move(o, &there, "news", 5)
	crawlUntil(t, there, server, 100)
	more := there
	move(there, &more, "more", 11)
	more.Dir = t.TempDir()
	crawlUntil(t, more, server, 150)
	home := o
	home.Dir, home.Seeds = t.TempDir(), nil
	move(more, &home, "weft", 2)
	if result := crawlUntil(t, home, server, 0); result.Ended != crawl.EndedDrained {
		t.Errorf("ended %s", result.Ended)
	}
	addr, release := reach(t, home.Dir)
	defer release()
	proven(t, addr, "weft")
	report := webserver.Audit(server.Entries(), webserver.Expect{
		Pages: web.Pages(), Denied: web.Denied, Delay: func(string) time.Duration { return 20 * time.Millisecond },
	})
	if report.Short > 0 || report.Overlaps > 0 || report.Denied > 0 || report.BeforeRobots > 0 || len(report.Missing) > 0 || report.Repeats > 0 {
		t.Errorf("the server's log:\n%v", report)
	}
}

// broker is where a crawl's topics are.
func brokerOf(t *testing.T, o crawl.Options) (addr string, release func()) {
	if len(o.Cluster.Brokers) > 0 {
		return o.Cluster.Brokers[0], func() {}
	}
	return reach(t, o.Dir)
}
