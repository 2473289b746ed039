package kafkaserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/test/freeport"
)

// Cluster is one or more brokers that belong together.
type Cluster struct {
	opts    Options
	install install
	dir     string
	nodes   []*node
}

// Start starts a cluster that ends with the test. It returns when all brokers
// are ready.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	o = o.withDefaults()
	Need(t, o.Version)
	c, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if said := c.close(t.Failed()); said != "" {
			t.Log(said)
		}
	})
	return c
}

func open(o Options) (c *Cluster, err error) {
	c = &Cluster{opts: o}
	if c.install, err = find(o.Version); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp("", "weft-kafka-"); err != nil {
		return nil, err
	}
	if err = c.prepare(); err == nil {
		err = c.startAll()
	}
	if err != nil {
		return nil, fmt.Errorf("start Apache Kafka %s: %w\n%s", o.Version, err, c.close(true))
	}
	return c, nil
}

// prepare makes the nodes and formats their storage.
func (c *Cluster) prepare() error {
	listeners := c.opts.listeners()
	ports, err := freeport.Loopback(c.opts.Brokers * len(listeners))
	if err != nil {
		return err
	}
	for i := range c.opts.Brokers {
		n := &node{id: int32(i + 1), dir: filepath.Join(c.dir, strconv.Itoa(i+1)), addrs: map[string]string{}}
		for _, l := range listeners {
			n.addrs[l.Name], ports = ports[0], ports[1:]
		}
		c.nodes = append(c.nodes, n)
	}
	cluster := newID()
	var formats errgroup.Group
	for _, n := range c.nodes {
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(n.propertiesFile(), []byte(c.properties(n)), 0o644); err != nil {
			return err
		}
		formats.Go(func() error { return n.format(c.install, cluster, c.opts.Format) })
	}
	return formats.Wait()
}

func (c *Cluster) startAll() error {
	for _, n := range c.nodes {
		if err := n.start(c.install); err != nil {
			return err
		}
	}
	var ready errgroup.Group
	for _, n := range c.nodes {
		ready.Go(func() error { return c.ready(n) })
	}
	return ready.Wait()
}

// close ends all brokers and removes their data. When something has failed it
// keeps their logs, and returns what they say last.
func (c *Cluster) close(failed bool) (said string) {
	for _, n := range c.nodes {
		n.kill()
	}
	if failed {
		return c.keepLogs()
	}
	_ = os.RemoveAll(c.dir) // a temporary directory
	return ""
}

// Addrs are the addresses, host:port, at which clients reach the brokers, in
// the order of their ids.
func (c *Cluster) Addrs() []string {
	if len(c.opts.Listeners) == 0 {
		return c.Inside()
	}
	return c.AddrsOf(c.opts.Listeners[0].Name)
}

// Inside are the addresses of the brokers' own listeners, in plaintext.
func (c *Cluster) Inside() []string { return c.AddrsOf(inside) }

// AddrsOf are the addresses of a listener.
func (c *Cluster) AddrsOf(listener string) []string {
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = n.addrs[listener]
	}
	return addrs
}

// Stop ends a broker as an operator does: it hands over its partitions and
// closes its logs. A quorum of controllers has to be left for that.
func (c *Cluster) Stop(t testing.TB, broker int32) {
	t.Helper()
	if err := c.nodes[broker-1].stop(); err != nil {
		t.Fatal(err)
	}
}

// Kill ends a broker at once (kill -9).
func (c *Cluster) Kill(t testing.TB, broker int32) {
	t.Helper()
	if !c.nodes[broker-1].running() {
		t.Fatalf("broker %d does not run", broker)
	}
	c.nodes[broker-1].kill()
}

// StartAgain starts a broker that was stopped or killed, and waits until it is
// one of the cluster again.
func (c *Cluster) StartAgain(t testing.TB, broker int32) {
	t.Helper()
	n := c.nodes[broker-1]
	if n.running() {
		t.Fatalf("broker %d runs", broker)
	}
	err := n.start(c.install)
	if err == nil {
		err = c.ready(n)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Freeze lets a broker stand still (SIGSTOP): its connections stay and nothing
// is answered.
func (c *Cluster) Freeze(t testing.TB, broker int32) {
	t.Helper()
	c.signal(t, broker, syscall.SIGSTOP)
}

// Thaw lets a frozen broker go on (SIGCONT).
func (c *Cluster) Thaw(t testing.TB, broker int32) {
	t.Helper()
	c.signal(t, broker, syscall.SIGCONT)
}

func (c *Cluster) signal(t testing.TB, broker int32, s os.Signal) {
	t.Helper()
	if err := c.nodes[broker-1].signal(s); err != nil {
		t.Fatal(err)
	}
}
