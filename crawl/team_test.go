package crawl_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// team is a crawl as a team runs it: on three brokers that keep three copies, in
// processes that run all stages each.
type team struct {
	*web
	brokers   *kafkaserver.Cluster
	weft      program
	dir       string
	delay     time.Duration
	processes map[string]*child
	outages   []webserver.Outage
	log       *os.File // the web server's
}

// teamPartitions are more than the processes, so that each has some.
const teamPartitions = "8"

// newTeam begins the crawl of a web with these processes.
func newTeam(t *testing.T, o webserver.Options, delay time.Duration, processes ...string) *team {
	t.Helper()
	c := &team{
		brokers: kafkaserver.Start(t, kafkaserver.Options{Brokers: 3}), dir: t.TempDir(),
		delay: delay, processes: map[string]*child{},
	}
	var err error
	if c.log, err = os.Create(filepath.Join(c.dir, "access.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.log.Close() })
	c.web = serve(t, o, webserver.ServerOptions{Latency: 2 * time.Millisecond, Log: c.log})
	c.weft = build(t, c.brokers.Addrs())
	c.weft.do(t, "topics", "create", "--partitions", teamPartitions, "--replication", "3", "--delay", delay.String(), "--allow-private")
	for _, name := range processes {
		c.start(t, name)
	}
	c.weft.do(t, append([]string{"seed"}, c.server.Seeds()...)...)
	return c
}

// start starts a process, or the same again.
func (c *team) start(t *testing.T, name string) {
	t.Helper()
	c.processes[name] = c.weft.start(t, "run", "all", "--data", filepath.Join(c.dir, name))
}

// stop ends a process as an operator does.
func (c *team) stop(t *testing.T, name string) {
	t.Helper()
	p := c.processes[name]
	delete(c.processes, name)
	p.signal(syscall.SIGTERM)
	if status, _, complaints := p.end(t); status != 0 {
		t.Errorf("%s ended with status %d:\n%s", name, status, complaints)
	}
}

// kill ends a process at once (kill -9).
func (c *team) kill(name string) {
	c.processes[name].kill()
	delete(c.processes, name)
}

// during does something in whose course requests may be cancelled, and made
// again, and lets n more follow.
func (c *team) during(t *testing.T, what string, n int64, do func()) {
	t.Helper()
	outage := webserver.Outage{From: time.Now().Add(-acknowledging).UnixNano()}
	t.Logf("%s after %d requests", what, c.asked.Load())
	do()
	if n > 0 {
		c.goesOn(t, n)
	}
	outage.To = time.Now().Add(settling).UnixNano()
	c.outages = append(c.outages, outage)
}

// acknowledging is how long brokers that share a busy machine may take to acknowledge an
// exchange. On two cores with three more tests of brokers some took 1 to 2 s.
const acknowledging = 3 * time.Second

// settling is how long after a change others may follow from it: a session that
// ends, a coordinator that moves back to a broker which has returned.
const settling = 10 * time.Second

// goesOn waits until n more requests are made.
func (c *team) goesOn(t *testing.T, n int64) {
	t.Helper()
	for _, p := range c.processes {
		c.reaches(t, n, p)
		return
	}
}

// wellDone waits until the crawl is drained, ends it, and judges all of it: by
// the web server's log, by the topic parsed, and by weft verify.
func (c *team) wellDone(t *testing.T, patience time.Duration) {
	t.Helper()
	c.weft.drainedWithin(t, "weft", patience)
	c.weft.do(t, "stop")
	for name, p := range c.processes {
		if status, _, complaints := p.end(t); status != 0 {
			t.Errorf("%s ended with status %d:\n%s", name, status, complaints)
		}
	}
	report := c.audit(t, webserver.Expect{Pages: c.Pages(), Delay: c.web.delay(c.delay), Outages: c.outages})
	t.Logf("the server's log:\n%v", report)
	c.repeatsOnlyIn(t, c.outages)
	var pages []string
	for _, r := range readTopic(t, outsider(t, c.brokers.Addrs()[0]), topics.Loop("weft").Parsed) {
		pages = append(pages, string(r.Value))
	}
	holds(t, c.web, read(t, pages))
	if err := c.server.FlushLog(); err != nil {
		t.Fatal(err)
	}
	t.Log(c.weft.do(t, "verify", "--access-log", c.log.Name(), "--format", "weft"))
}

// leader is a broker that leads partitions of a topic, and none of those given.
func (c *team) leader(t *testing.T, topic string, but ...int32) int32 {
	t.Helper()
	client := outsider(t, c.brokers.Addrs()[0])
	partitions, err := client.Partitions(topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range partitions {
		if broker, err := client.Leader(topic, p); err == nil && !slices.Contains(but, broker.ID()) {
			return broker.ID()
		}
	}
	t.Fatalf("no broker leads %s", topic)
	return 0
}
