package crawl_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// A person lowers max.message.bytes of parsed below the size of pages while the crawl runs:
// they are set aside by name, the crawl goes on, and they are made again when the limit is what
// it was. Who starts in between refuses to.
func TestLimitIsLowered(t *testing.T) {
	if testing.Short() {
		t.Skip("Apache Kafka")
	}
	t.Parallel()
	const delay = 20 * time.Millisecond
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	w := serve(t, webserver.Options{Pages: 1000, Domains: 20, CrossLinks: 0.1}, webserver.ServerOptions{})
	weft := build(t, cluster.Addrs())
	weft.do(t, "topics", "create", "--partitions", "2", "--delay", delay.String(), "--allow-private")
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	limit := func(bytes string) {
		t.Helper()
		change := kadm.AlterConfig{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &bytes}
		answers, err := kadm.NewClient(client).AlterTopicConfigs(t.Context(), []kadm.AlterConfig{change}, topics.Loop("weft").Parsed)
		if err != nil || answers[0].Err != nil {
			t.Fatal(err, answers)
		}
	}
	dir := t.TempDir()
	running := weft.start(t, "run", "all", "--data", filepath.Join(dir, "running"))
	weft.do(t, append([]string{"seed"}, w.server.Seeds()...)...)
	w.reaches(t, 200, running)
	limit("3000")
	weft.drained(t)

	late := weft.start(t, "run", "all", "--data", filepath.Join(dir, "late"))
	if status, _, complaint := late.end(t); status != 1 || !strings.Contains(complaint, "weft.parsed has max.message.bytes=3000 instead of 16777216") {
		t.Errorf("started on such a topic: status %d, %s", status, complaint)
	}
	if told := weft.do(t, "rejected"); !strings.Contains(told, "output_too_large") {
		t.Errorf("rejected:\n%.500s", told)
	}
	if told := weft.do(t, "topics", "create", "--alter"); !strings.Contains(told, "altered: weft.parsed has max.message.bytes=3000 instead of 16777216") {
		t.Errorf("create --alter: %s", told)
	}
	t.Log(weft.do(t, "rejected", "--replay"))
	weft.drained(t)
	weft.do(t, "stop")
	if status, _, complaints := running.end(t); status != 0 {
		t.Errorf("ended with status %d:\n%s", status, complaints)
	}
	w.audit(t, webserver.Expect{Pages: w.Pages(), Delay: w.delay(delay)})
	w.repeatsOnlyIn(t, nil)
	var pages []string
	for _, r := range readTopic(t, outsider(t, cluster.Addrs()[0]), topics.Loop("weft").Parsed) {
		pages = append(pages, string(r.Value))
	}
	holds(t, w, read(t, pages))
}
