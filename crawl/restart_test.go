package crawl_test

import (
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// A process that is killed and comes back within its session has its partitions
// at once, and the other one does not notice: it claims nothing anew, and no
// partition changes hands. The sessions are long, so that nothing else could have
// brought the partitions back.
func TestRestartDisturbsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("Apache Kafka and three processes")
	}
	t.Parallel()
	cluster := kafkaserver.Start(t, kafkaserver.Options{})
	w := serve(t, webserver.Options{Pages: 2400, Domains: 40, CrossLinks: 0.1}, webserver.ServerOptions{})
	weft := build(t, cluster.Addrs())
	weft.do(t, "topics", "create", "--partitions", "8", "--delay", "100ms", "--allow-private")
	dir := t.TempDir()
	run := func(name string) *child {
		return weft.start(t, "run", "all", "--data", filepath.Join(dir, name), "--session-timeout", "10m")
	}
	a, b := run("a"), run("b")
	weft.do(t, append([]string{"seed"}, w.server.Seeds()...)...)
	w.reaches(t, 300, b)
	settled := weft.claims(t)
	gone := a.kill()
	a = run("a")
	w.reaches(t, 300, b)
	weft.drained(t)
	for partition, owners := range weft.claims(t) {
		before := settled[partition]
		owner := before[len(before)-1]
		for _, again := range owners[len(before):] {
			if again != owner {
				t.Errorf("partition %d went from %s to %s", partition, owner, again)
			}
		}
		if n := len(owners) - len(before); n > 1 {
			t.Errorf("partition %d was claimed %d times", partition, n)
		}
	}
	weft.do(t, "stop")
	for _, c := range []*child{a, b} {
		if status, _, complaints := c.end(t); status != 0 || strings.Contains(complaints, "heartbeat") {
			t.Errorf("ended with status %d:\n%s", status, complaints)
		}
	}
	kill := webserver.Kill(gone)
	w.audit(t, webserver.Expect{Pages: w.Pages(), Outages: []webserver.Outage{kill}})
	w.repeatsOnlyIn(t, []webserver.Outage{kill})
}

// claims are the owners who claimed each partition of scheduled, in order.
func (p program) claims(t *testing.T) map[int32][]string {
	t.Helper()
	claims := map[int32][]string{}
	for _, r := range readTopic(t, outsider(t, p.brokers[0]), topics.Loop("weft").Scheduled) {
		var event weftpb.Event
		if err := proto.Unmarshal(r.Value, &event); err != nil {
			t.Fatal(err)
		}
		if event.Claim != nil {
			claims[r.Partition] = append(claims[r.Partition], event.Claim.Owner)
		}
	}
	return claims
}
