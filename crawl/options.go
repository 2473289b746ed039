package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/broker"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/dirlock"
	"github.com/weftcrawl/weft/output"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

// Options of one process of a crawl.
type Options struct {
	// Dir is the data directory: logs of the embedded broker, states of the
	// stages, and the files of pages.
	Dir string
	// Cluster is where the crawl's topics are; without brokers: the embedded
	// one.
	Cluster cluster.Access
	// Listen opens the embedded broker to other clients at host:port, of whom
	// Door says who they may be. Unless they are trusted they may read
	// everything and write seeds. Empty: only processes that may read the data
	// directory reach it.
	Listen string
	Door   Door
	// Stay is told how the crawl ended by itself, drained or full, and where the
	// embedded broker listens, which then stays until ctx ends. nil: Run ends
	// with the crawl.
	Stay func(result Result, addr string) error
	// Checkpoints is where those of the stateful stages are sent, see
	// store.Open, so that another machine goes on from them; empty: nowhere.
	Checkpoints string
	// Definition of the crawl if it is new. Zero partitions mean the default.
	Definition topics.Definition
	// Redefine changes the definition that is in force, or Definition in a new
	// crawl; nil: it stays. Partitions and suffix list cannot change.
	Redefine func(topics.Definition) topics.Definition
	// Replication of topics that are created.
	Replication int16
	// Seeds are records for the topic seeds: URLs, or JSON objects.
	Seeds [][]byte
	// Fetch are the options of the stage fetch. Its agent, per-domain limit
	// and addresses come from the definition, and the groups of all stages
	// share its session time-out.
	Fetch processors.FetchOptions
	// Pages says where pages go. Without a Dir, File or Stream they go to
	// files in Options.Dir/pages.
	Pages output.Options
	// Reserve is the free disk of Dir, in bytes, below which nothing is fetched;
	// 0: DefaultReserve.
	Reserve int64
	// WARC writes exchanges to files in Options.Dir/warc too.
	WARC bool
	// Operator is who crawls, for WARC files; empty: the contact of the definition.
	Operator string
	// Clock is the wall clock of decisions and records; nil: the machine's.
	Clock func() time.Time
	// Registry receives the process's metrics; nil: one of its own.
	Registry *prometheus.Registry
	// Watch is told once a second how the crawl goes; nil: nobody.
	Watch  func(progress.Snapshot)
	Logger *slog.Logger
}

// Door says who may come to Options.Listen. The zero value is everybody, in
// plaintext.
type Door struct {
	// Trusted clients may do everything, as processes of the crawl do.
	Trusted bool
	// CertFile and KeyFile are a certificate and its key, in PEM, for TLS.
	// ClientCAFile has the authorities of the certificates that clients then
	// need; empty: they need none.
	CertFile, KeyFile, ClientCAFile string
	// UsersFile has lines name:password of users, of whom clients have to be one
	// by SASL; empty: there is no SASL.
	UsersFile string
}

// ErrUsage is wrapped by errors that the user mends by asking for something
// else: a directory in use, a crawl that is not there.
var ErrUsage = errors.New("cannot be done as asked")

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Dir == "":
		return fmt.Errorf("%w: no data directory", ErrUsage)
	case len(o.Cluster.Brokers) > 0 && o.Listen != "":
		return fmt.Errorf("%w: only the embedded broker listens", ErrUsage)
	}
	if err := topics.CheckCrawl(o.Definition.Crawl); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return nil
}

func (o Options) embedded() bool { return len(o.Cluster.Brokers) == 0 }

// DefaultReserve is the free disk, in bytes, below which a crawl fetches
// nothing unless told otherwise.
const DefaultReserve int64 = 1 << 30

func (o Options) reserve() int64 {
	if o.Reserve == 0 {
		return DefaultReserve
	}
	return o.Reserve
}

// Places in the data directory.

func (o Options) brokerDir() string { return filepath.Join(o.Dir, "broker") }
func (o Options) stateDir() string  { return filepath.Join(o.Dir, "state") }
func (o Options) pagesDir() string  { return filepath.Join(o.Dir, "pages") }
func (o Options) warcDir() string   { return filepath.Join(o.Dir, "warc") }
func (o Options) bodiesDir() string { return filepath.Join(o.Dir, "bodies") }

// brokerOptions are those of the embedded broker.
func (o Options) brokerOptions() broker.Options {
	return broker.Options{
		Dir: o.brokerDir(), Listen: o.Listen, Logger: o.Logger,
		Door: broker.Door{
			Trusted: o.Door.Trusted, Writable: topics.IsSeeds, Reserved: topics.IsGroup,
			CertFile: o.Door.CertFile, KeyFile: o.Door.KeyFile, ClientCAFile: o.Door.ClientCAFile, UsersFile: o.Door.UsersFile,
		},
	}
}

// openBroker opens the embedded broker. Another process may have it for a moment
// yet: one that was killed a moment ago, or weft status.
func (o Options) openBroker(ctx context.Context) (*broker.Broker, error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		b, err := broker.Open(o.brokerOptions())
		if !errors.Is(err, dirlock.ErrInUse) {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lockPatience is how long a data directory that is in use is waited for.
const lockPatience = 3 * time.Second

// Result is how a run ended.
type Result struct {
	// Ended says why: one of the Ended constants.
	Ended string
	// Pages are written since the crawl began.
	Pages int64
	// Bytes are those of the bodies of pages that this run parsed, decoded.
	Bytes int64
	// Outcomes count the URLs settled since the crawl began by reason.
	Outcomes map[string]int64
	// Pending URLs are left for the next run.
	Pending int64
}

// Why a run ended.
const (
	EndedDrained     = "drained"     // nothing is left to do
	EndedFull        = "full"        // the definition's MaxPages are written
	EndedStopped     = "stopped"     // somebody asked for it (topics.Control)
	EndedInterrupted = "interrupted" // the context ended
)
