package main

import (
	"context"
	"net"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/inspect/metrics"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/memory"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/topics"
)

// Flags that several subcommands share.

// clusterFlags say which crawl is meant and where it is.
type clusterFlags struct {
	Crawl   string   `placeholder:"NAME" default:"weft" help:"Name of the crawl, the prefix of its topics and groups."`
	Brokers []string `placeholder:"LIST" help:"Kafka brokers, host:port separated by commas, or the address of weft crawl --listen."`
	securityFlags

	// member dials the embedded broker as a member of its crawl.
	member func(ctx context.Context, network, address string) (net.Conn, error)
}

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
			return usagef("there is TLS or SASL, but no --brokers: the embedded broker of a data directory needs neither")
		}
		return nil
	}
	if err := f.access().Validate(); err != nil {
		return usagef("cannot reach the brokers: %w", err)
	}
	return nil
}

// checkRemote is check for subcommands that need --brokers.
func (f clusterFlags) checkRemote() error {
	if len(f.Brokers) == 0 {
		return usagef("no brokers: --brokers host:port names a Kafka cluster, or a weft crawl --listen")
	}
	return f.check()
}

func (f clusterFlags) access() kafka.Access {
	access := f.over(f.Brokers)
	access.Dial = f.member
	return access
}

func (f clusterFlags) client() []kgo.Opt { return f.access().Options() }

// serviceFlags are about this process.
type serviceFlags struct {
	Data    string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of stores, checkpoints, pages and the embedded broker."`
	Metrics string `placeholder:"ADDR" help:"Serve Prometheus metrics, health and pprof at host:port."`

	Memory      byteSize `placeholder:"SIZE" help:"Soft limit of the memory of this process. Default: 335MiB, or twice the memory in use if that is more, but at most nine tenths of the machine or container."`
	DiskReserve byteSize `placeholder:"SIZE" default:"1GiB" help:"Fetch nothing while the disk of --data has less than this free."`
}

func (f serviceFlags) check() error {
	if err := f.memory().Validate(); err != nil {
		return usagef("--memory: %w", err)
	}
	if f.Metrics == "" {
		return nil
	}
	return checkAddress("--metrics", f.Metrics)
}

func (f serviceFlags) memory() memory.Options {
	if f.Memory == 0 {
		return memory.Default()
	}
	return memory.Exactly(int64(f.Memory))
}

// boundMemory keeps the memory of the process within --memory until the returned function
// is called. GOMEMLIMIT in the environment wins.
func (f serviceFlags) boundMemory(ctx context.Context) (stop func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	go func() { _ = memory.Follow(ctx, f.memory()) }()
	return stop
}

// makeData makes the data directory and checks that it can be written.
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

// serveMetrics runs work and serves metrics, health and pprof beside it, if --metrics
// is given.
func (f serviceFlags) serveMetrics(ctx context.Context, registry *prometheus.Registry, work func(context.Context) error) error {
	if f.Metrics == "" {
		return work(ctx)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.Metrics)
	if err != nil {
		return usagef("--metrics: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	server, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group.Go(func() error { return metrics.Serve(server, listener, registry) })
	group.Go(func() error {
		defer stop()
		return work(ctx)
	})
	return group.Wait()
}

// groupFlags are about this process as a member of consumer groups.
type groupFlags struct {
	SessionTimeout time.Duration `placeholder:"DUR" default:"10s" help:"How long a process may be silent before other processes get its partitions."`
}

// Bounds of the session time-out: what Kafka's brokers permit unless
// group.min.session.timeout.ms and group.max.session.timeout.ms say otherwise.
const (
	minSession = 6 * time.Second
	maxSession = 30 * time.Minute
)

func (f groupFlags) check() error {
	if f.SessionTimeout < minSession || f.SessionTimeout > maxSession {
		return usagef("--session-timeout %v is not between %v and %v", f.SessionTimeout, minSession, maxSession)
	}
	return nil
}

// fetchOptions are the options of the stage fetch in this process. The crawl's definition sets
// the rest.
func (f groupFlags) fetchOptions() fetch.Options {
	options := fetch.DefaultOptions()
	options.Client.Version, options.SessionTimeout = version(), f.SessionTimeout
	return options
}

func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usagef("%s %q is not host:port", flag, address)
	}
	return nil
}

// securityFlags are TLS and SASL towards a cluster.
type securityFlags struct {
	TLS           bool   `name:"tls" help:"Speak TLS to the brokers."`
	TLSCA         string `name:"tls-ca" placeholder:"FILE" type:"path" help:"Certificate authorities of the brokers, in PEM; by default the system's."`
	TLSCert       string `name:"tls-cert" placeholder:"FILE" type:"path" help:"Client certificate, in PEM, with --tls-key."`
	TLSKey        string `name:"tls-key" placeholder:"FILE" type:"path" help:"Key of the client certificate, in PEM."`
	TLSServerName string `name:"tls-server-name" placeholder:"NAME" help:"Name in the brokers' certificates, if it is not the name in their addresses."`

	SASL             string       `name:"sasl" enum:"none,plain,scram-sha-256,scram-sha-512" default:"none" help:"Log in to the brokers by plain, scram-sha-256 or scram-sha-512."`
	SASLUser         string       `name:"sasl-user" placeholder:"NAME" help:"User to log in as."`
	SASLPassword     passwordFlag `name:"sasl-password" placeholder:"..." help:"The user's password. Set it in the environment or in the --config file, because others can see a command line."`
	SASLPasswordFile string       `name:"sasl-password-file" placeholder:"FILE" type:"path" help:"File that contains the user's password."`
}

func (f securityFlags) given() bool {
	a := f.over(nil)
	return a.TLS != kafka.TLS{} || a.SASL.Mechanism != "" || a.SASL.User != "" || a.SASL.PasswordFile != "" || !a.SASL.Password.IsZero()
}

// over is the access to brokers with the flags.
func (f securityFlags) over(brokers []string) kafka.Access {
	mechanism := kafka.Mechanism(f.SASL)
	if f.SASL == "none" {
		mechanism = ""
	}
	return kafka.Access{
		Brokers: brokers,
		TLS:     kafka.TLS{On: f.TLS, CAFile: f.TLSCA, CertFile: f.TLSCert, KeyFile: f.TLSKey, ServerName: f.TLSServerName},
		SASL: kafka.SASL{
			Mechanism: mechanism, User: f.SASLUser, Password: f.SASLPassword.Secret, PasswordFile: f.SASLPasswordFile,
		},
	}
}

// passwordFlag is a password that must not be on the command line: every user of the
// machine sees it there, and /debug/pprof/cmdline serves it.
type passwordFlag struct{ kafka.Secret }

// BeforeResolve is called by kong when the flag is given or in the environment.
func (passwordFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	if slices.Contains(ctx.Path, trace) {
		return usagef("--sasl-password: others can see a command line; use WEFT_SASL_PASSWORD, the file of --config, or --sasl-password-file")
	}
	return nil
}
