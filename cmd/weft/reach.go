package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// reachFlags say which crawl a command is about: one on a cluster, or one in a
// data directory, whether or not a process runs it at the moment.
type reachFlags struct {
	clusterFlags
	Data string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl, if there are no --brokers."`
}

// openCrawl is a crawl whose brokers answer.
type openCrawl struct {
	clusterFlags
	names topics.Names
	admin *kadm.Client
	// dir is the crawl's data directory; empty for a crawl on a cluster.
	dir string
	// damaged names the parts of its logs that cannot be read.
	damaged []string
	release func()
}

// open reaches the brokers of the crawl. It is an error of usage if topic does not
// exist, unless topic is empty. The caller closes the result.
func (f *reachFlags) open(ctx context.Context, std streams, use crawl.Purpose, topic string) (*openCrawl, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	c := &openCrawl{clusterFlags: f.clusterFlags, names: topics.Loop(f.Crawl), release: func() {}}
	if len(f.Brokers) == 0 {
		if err := c.openData(ctx, std, use, f.Data); err != nil {
			return nil, err
		}
	}
	var err error
	if c.admin, err = c.connect(ctx); err == nil && topic != "" {
		err = c.mustHave(ctx, topic)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// openData reaches the embedded broker of a data directory.
func (c *openCrawl) openData(ctx context.Context, std streams, use crawl.Purpose, dir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it did not start within %v", startTimeout))
	defer cancel()
	access, release, err := crawl.Reach(ctx, dir, use, func(what string) {
		c.damaged = append(c.damaged, what)
		fmt.Fprintf(std.err, "weft: damaged, and left out: %s (see weft ledger repair --data %s)\n", what, dir)
	})
	if err != nil {
		return err
	}
	c.Brokers, c.member, c.dir, c.release = access.Brokers, access.Dial, dir, release
	return nil
}

// startTimeout bounds the wait for a process that is opening the directory.
const startTimeout = 30 * time.Second

func (c *openCrawl) close() {
	if c.admin != nil {
		c.admin.Close()
	}
	c.release()
}

// mustHave is an error of usage unless the topic exists.
func (c *openCrawl) mustHave(ctx context.Context, topic string) error {
	listed, err := c.admin.ListTopics(ctx, topic)
	if err != nil {
		return fmt.Errorf("list topic %s: %w", topic, err)
	}
	if !listed.Has(topic) {
		return usagef("there is no topic %s: weft crawl or weft topics create begins the crawl", topic)
	}
	return nil
}

// connect connects to the cluster and makes sure that it answers.
func (f clusterFlags) connect(ctx context.Context) (*kadm.Client, error) {
	if err := f.access().Ping(ctx); err != nil {
		return nil, err
	}
	client, err := f.access().NewClient()
	if err != nil {
		return nil, err
	}
	return kadm.NewClient(client), nil
}

// reportDamage returns a function that reports on standard error that a partition of
// a ledger is read only up to its damage.
func reportDamage(std streams) func(int32, error) {
	return func(_ int32, err error) {
		fmt.Fprintf(std.err, "weft: damaged, and the rest is left out: %v\n", err)
	}
}
