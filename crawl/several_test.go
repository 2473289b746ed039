package crawl_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// Two crawls on one cluster, of one half of a web each, in processes that share
// a data directory: neither takes anything of the other's, and what is asked of
// one does not concern the other.
func TestSeveralCrawls(t *testing.T) {
	if testing.Short() {
		t.Skip("Apache Kafka, and two crawls")
	}
	t.Parallel()
	const delay = 20 * time.Millisecond
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	w := serve(t, webserver.Options{Pages: 2000, Domains: 40, CrossLinks: 0.2}, webserver.ServerOptions{})
	weft := build(t, cluster.Addrs())
	data := filepath.Join(t.TempDir(), "data")
	seeds := map[string][]string{}
	for i, seed := range w.server.Seeds() {
		crawl := []string{"even", "odd"}[i%2]
		seeds[crawl] = append(seeds[crawl], seed)
	}
	processes := map[string]*child{}
	for crawl, urls := range seeds {
		weft.do(t, "topics", "create", "--crawl", crawl, "--partitions", "3", "--delay", delay.String(), "--allow-private")
		weft.do(t, append([]string{"seed", "--crawl", crawl}, urls...)...)
	}
	weft.do(t, "pause", "--crawl", "even")
	for crawl := range seeds {
		processes[crawl] = weft.start(t, "run", "all", "--crawl", crawl, "--data", data)
	}

	// One is paused, the other goes on and comes to its end.
	weft.drainedWithin(t, "odd", patience)
	for _, e := range w.server.Entries() {
		if !slices.Contains(seeds["odd"], w.url(e.Domain, "/")) {
			t.Fatalf("%s was asked while its crawl was paused", e.Domain)
		}
	}
	told := weft.do(t, "status", "--all", "--interval", "0")
	if lines := strings.Split(strings.TrimSpace(told), "\n"); len(lines) != 3 ||
		!strings.HasPrefix(lines[1], "even   paused") || !strings.HasPrefix(lines[2], "odd    drained") {
		t.Errorf("status --all:\n%s", told)
	}

	// One is stopped, the other goes on.
	weft.do(t, "stop", "--crawl", "odd")
	if status, _, complaints := processes["odd"].end(t); status != 0 {
		t.Errorf("ended with status %d:\n%s", status, complaints)
	}
	weft.do(t, "resume", "--crawl", "even")
	weft.drainedWithin(t, "even", patience)
	weft.do(t, "stop", "--crawl", "even")
	if status, _, complaints := processes["even"].end(t); status != 0 {
		t.Errorf("ended with status %d:\n%s", status, complaints)
	}

	report := w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	t.Logf("the server's log:\n%v", report)
	w.repeatsOnlyIn(t, nil)
	client := outsider(t, cluster.Addrs()[0])
	var all []codecs.Parsed
	for crawl, urls := range seeds {
		var values []string
		for _, r := range readTopic(t, client, topics.Loop(crawl).Parsed) {
			values = append(values, string(r.Value))
		}
		for _, page := range read(t, values) {
			if !slices.Contains(urls, w.url(page.Domain, "/")) {
				t.Errorf("crawl %s has %s", crawl, page.URL)
			}
			all = append(all, page)
		}
		t.Log(weft.do(t, "verify", "--crawl", crawl))
	}
	holds(t, w, all)
	ownGroups(t, cluster)
}

// ownGroups checks that each group has consumed topics of its own crawl only.
func ownGroups(t *testing.T, cluster *kafkaserver.Cluster) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	admin := kadm.NewClient(client)
	groups, err := admin.ListGroups(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2*(len(topics.Stages())+1) { // the stages, and what processes report
		t.Errorf("groups %q", groups.Groups())
	}
	for _, group := range groups.Groups() {
		commits, err := admin.FetchOffsets(ctx, group)
		if err != nil {
			t.Fatal(err)
		}
		crawl, _, _ := strings.Cut(group, ".")
		for topic := range commits {
			if !strings.HasPrefix(topic, crawl+".") {
				t.Errorf("group %s has consumed %s", group, topic)
			}
		}
	}
}
