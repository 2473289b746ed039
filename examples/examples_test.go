// Package examples_test runs the examples against a crawl on Apache Kafka.
package examples_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Each language gives the crawl seeds of its own, as text and as JSON. Then it reads
// the pages of all of them: every page once, with its id, and after a stop the pages
// that are left. A page that is in the topic twice, as after a crash, is recognised.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Apache Kafka")
	}
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	spoken := languages(t)
	web, server := serve(t, 120*len(spoken), 2*len(spoken))
	brokers := strings.Join(cluster.Addrs(), ",")
	weft := built(t)
	do(t, weft, "topics", "create", "--brokers", brokers, "--partitions", "4", "--delay", "10ms", "--allow-private")
	var all sync.WaitGroup
	seeds := map[codecs.Seed]bool{}
	for i, l := range spoken {
		text, object := server.Seeds()[2*i], server.Seeds()[2*i+1]
		all.Go(func() { do(t, l.seed, "--brokers", brokers, text) })
		all.Go(func() { do(t, l.seed, "--brokers", brokers, "--depth", "1", object) })
		seeds[codecs.Seed{URL: text}], seeds[codecs.Seed{URL: object, Depth: 1}] = true, true
	}
	all.Wait()
	if diff := cmp.Diff(seeds, seeded(t, brokers, len(seeds))); diff != "" {
		t.Fatal(diff)
	}
	run(t, weft, brokers)
	drained(t, brokers)
	const repeated = 5
	repeat(t, brokers, repeated)

	want := map[page]bool{}
	for domain, path := range web.Pages() {
		url := webserver.Origin(domain, server.Port()) + path
		want[page{urls.PageID(url, 0), url, web.Page(domain, server.Port(), path).Title}] = true
	}
	for _, l := range spoken {
		all.Go(func() {
			first := l.pages(t, "--brokers", brokers, "--pages", "1", "--idle", "60")
			rest := l.pages(t, "--brokers", brokers, "--idle", "20")
			times := map[page]int{}
			for _, run := range [][]page{first, rest} {
				within := map[page]bool{}
				for _, p := range run {
					if within[p] {
						t.Errorf("%s printed %v twice", l.name, p)
					}
					if !want[p] {
						t.Errorf("%s printed %v, which is no page", l.name, p)
					}
					within[p] = true
					times[p]++
				}
			}
			if len(times) != len(want) {
				t.Errorf("%s printed %d of %d pages", l.name, len(times), len(want))
			}
			// A record that the first run committed does not come again, unless it is in the topic
			// again.
			again := len(first) + len(rest) - len(times)
			if len(first) == 0 || len(first) == len(want) || again > repeated {
				t.Errorf("%s printed %d pages, then %d, and %d of them twice", l.name, len(first), len(rest), again)
			}
		})
	}
	all.Wait()
}

// serve serves a web of small pages until the test ends.
func serve(t *testing.T, pages, domains int) (*webserver.Generated, *webserver.Server) {
	t.Helper()
	web, err := webserver.NewGenerated(webserver.Options{Pages: pages, Domains: domains, MedianBytes: 3 << 10, MeanBytes: 6 << 10, Links: 20})
	if err != nil {
		t.Fatal(err)
	}
	server, err := webserver.Serve(web, webserver.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return web, server
}

// built builds weft and returns the beginning of its commands.
func built(t *testing.T) []string {
	t.Helper()
	weft := filepath.Join(t.TempDir(), "weft")
	do(t, []string{"go", "build", "-o", weft, "../cmd/weft"})
	return []string{weft}
}

// run runs all stages of a crawl in one process, which ends with the test.
func run(t *testing.T, weft []string, brokers string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(weft[0], "run", "normalize", "dedupe", "schedule", "fetch", "parse", "--brokers", brokers, "--data", t.TempDir())
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			said, _ := os.ReadFile(log.Name()) // the test has failed already
			t.Errorf("weft run: %v\n%s", err, said)
		}
		log.Close()
	})
}

// drained waits until nothing is left to do.
func drained(t *testing.T, brokers string) {
	t.Helper()
	status, err := status.NewMonitor(topics.Loop(topics.DefaultCrawl), kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		s, err := status.Read(ctx)
		if err == nil && s.Drained() {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("not drained: %s %v", s.Left(), err)
		}
	}
}

// seeded are n records of the topic seeds, decoded.
func seeded(t *testing.T, brokers string, n int) map[codecs.Seed]bool {
	t.Helper()
	all := map[codecs.Seed]bool{}
	for _, r := range first(t, brokers, topics.Loop(topics.DefaultCrawl).Seeds, n) {
		seeds, bad := codecs.DecodeSeeds(r.Value)
		if len(seeds) != 1 || len(bad) > 0 {
			t.Errorf("%q is no seed", r.Value)
			continue
		}
		all[seeds[0]] = true
	}
	return all
}

// repeat writes n records of parsed again, as parse does after a crash.
func repeat(t *testing.T, brokers string, n int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, r := range first(t, brokers, topics.Loop(topics.DefaultCrawl).Parsed, n) {
		again := &kgo.Record{Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value, Headers: r.Headers}
		if err := client.ProduceSync(t.Context(), again).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// first reads n records of a topic.
func first(t *testing.T, brokers, topic string, n int) (records []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers), kgo.ConsumeTopics(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(records) < n {
		fetches := client.PollRecords(ctx, n-len(records))
		if err := fetches.Err(); err != nil {
			t.Fatalf("read %d records of %s: %v", n, topic, err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}
