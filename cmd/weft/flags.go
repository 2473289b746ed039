package main

import (
	"context"
	"net"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/topics"
)

// Flags that several subcommands share.

// clusterFlags say which crawl is meant and where it is.
type clusterFlags struct {
	Crawl   string   `placeholder:"NAME" default:"weft" help:"Name of the crawl, the prefix of its topics and groups."`
	Brokers []string `placeholder:"LIST" help:"Kafka brokers, host:port separated by commas; also the address of a weft crawl --listen."`
	securityFlags

	member dialer // to the embedded broker, as a member; set by reach
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (f clusterFlags) check() error {
	if err := topics.CheckCrawl(f.Crawl); err != nil {
		return usageError{err}
	}
	for _, broker := range f.Brokers {
		if err := checkAddress("--brokers", broker); err != nil {
			return err
		}
	}
	if len(f.Brokers) == 0 {
		if f.given() {
			return usagef("there is TLS or SASL, but no --brokers to speak it with: the embedded broker of a data directory is reached without")
		}
		return nil
	}
	if err := f.access().Validate(); err != nil {
		return usagef("cannot reach the brokers like that: %w", err)
	}
	return nil
}

// checkRemote is check for subcommands that have no broker of their own.
func (f clusterFlags) checkRemote() error {
	if len(f.Brokers) == 0 {
		return usagef("no brokers: --brokers host:port names a Kafka cluster, or a weft crawl --listen")
	}
	return f.check()
}

// access says how the cluster is reached.
func (f clusterFlags) access() cluster.Access {
	access := f.over(f.Brokers)
	access.Dial = f.member
	return access
}

// client are the options of every Kafka client that reaches the cluster.
func (f clusterFlags) client() []kgo.Opt { return f.access().Client() }

// serviceFlags are about this process.
type serviceFlags struct {
	Data    string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of stores, checkpoints, pages and the embedded broker."`
	Metrics string `placeholder:"ADDR" help:"Serve Prometheus metrics, health and pprof at host:port."`

	DiskReserve byteSize `placeholder:"SIZE" default:"1GiB" help:"Fetch nothing while less than this is free on the disk of --data."`
}

func (f serviceFlags) check() error {
	if f.Metrics == "" {
		return nil
	}
	return checkAddress("--metrics", f.Metrics)
}

// makeData makes the data directory and tries to write in it.
func (f serviceFlags) makeData() error {
	if err := os.MkdirAll(f.Data, 0o755); err != nil {
		return usagef("cannot use the data directory: %w", err)
	}
	probe, err := os.CreateTemp(f.Data, ".weft-probe-*")
	if err != nil {
		return usagef("cannot use the data directory: %w", err)
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}

func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usagef("%s %q is not host:port", flag, address)
	}
	return nil
}
