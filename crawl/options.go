package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/topics"
)

// Options of one process of a crawl.
type Options struct {
	// Dir is the data directory: logs of the embedded broker, states of the
	// stages, and the files of pages.
	Dir string
	// Cluster has the crawl's topics; without brokers it is the embedded one.
	Cluster kafka.Access
	// Listen opens the embedded broker to other clients at host:port. Listener says
	// which clients may connect and what they may do. Unless they are trusted, clients
	// may read everything and write seeds. Empty: only processes that may read the data
	// directory reach the broker.
	Listen   string
	Listener Listener
	// Stay is called when the crawl has ended by itself: drained, full, or with only URLs of
	// hosts that are down or of blocked domains left. It gets the address of the embedded
	// broker, which runs until ctx ends. nil: Run ends with the crawl.
	Stay func(result Result, addr string) error
	// Ordered is called when weft stop orders the process to end, and it begins to; nil: no call.
	Ordered func()
	// Patience is how long the crawl goes on without a page when all pending URLs are of hosts
	// that are down. 0: until these hosts are given up.
	Patience time.Duration
	// Checkpoints is the store to which stateful stages send checkpoints (see blob.Open),
	// so that another machine can go on from them; empty: checkpoints stay here.
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
	// Fetch are the options of the stage fetch. The definition sets its agent, per-domain
	// limit and addresses. The groups of all stages share its session time-out.
	Fetch fetch.Options
	// Pages says where pages go. Without a Dir, File or Stream they go to
	// files in Options.Dir/pages.
	Pages jsonl.Options
	// Reserve is the minimum of free disk for Dir, in bytes: below it nothing is fetched.
	// 0: DefaultReserve.
	Reserve int64
	// WARC gives a crawl that has no archive one in Options.Dir/warc.
	WARC bool
	// Operator is the operator in the files of the archive; empty: the contact of the definition.
	Operator string
	// Clock is the wall clock of decisions and records; nil: the machine's.
	Clock func() time.Time
	// Registry gets the process's metrics; nil: a new registry.
	Registry *prometheus.Registry
	// Watch is called once a second with a snapshot; nil: no calls.
	Watch  func(progress.Snapshot)
	Logger *slog.Logger
}

// Listener says which clients may connect to Options.Listen. The zero value permits all, in
// plaintext. Crawls have their own Writable and Reserved: the values here are ignored.
type Listener = broker.Listener

// ErrUsage is wrapped by errors that the user can fix with another command line: a directory
// in use, a crawl that does not exist.
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

// DefaultReserve is the default minimum of free disk, in bytes.
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

func (o Options) brokerOptions() broker.Options {
	o.Listener.Writable, o.Listener.Reserved = topics.IsSeeds, topics.IsGroup
	return broker.Options{Dir: o.brokerDir(), Listen: o.Listen, Logger: o.Logger, Listener: o.Listener}
}

// openBroker opens the embedded broker. Another process may still have it for a moment: one
// that was just killed, or weft status. Errors wrap ErrUsage, except for damage.
func (o Options) openBroker(ctx context.Context) (*broker.Broker, error) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	var b *broker.Broker
	var err error
	_ = supervise.Until(ctx, 50*time.Millisecond, func() (bool, error) {
		b, err = broker.Open(o.brokerOptions())
		return !errors.Is(err, dirlock.ErrInUse), nil
	})
	if err != nil && !errors.Is(err, broker.ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return b, err
}

// lockPatience is how long a run waits for a data directory that is in use.
const lockPatience = 3 * time.Second

// Result is how a run ended.
type Result struct {
	// Ended says why: one of the Ended constants.
	Ended string
	// Pages are written since the crawl began.
	Pages int64
	// Bytes is the size of the decoded bodies of all pages that this run parsed.
	Bytes int64
	// Outcomes count the URLs settled since the crawl began by reason.
	Outcomes map[string]int64
	// Pending URLs are left for the next run.
	Pending int64
	// Down has the number of pending URLs for each host that is down.
	Down map[string]int64
	// Blocked is the number of pending URLs of blocked domains.
	Blocked int64
}

// Why a run ended.
const (
	EndedDrained     = "drained"     // nothing is left to do
	EndedHostsDown   = "waiting"     // only URLs of hosts that are down are left (Options.Patience)
	EndedBlocked     = "blocked"     // only URLs of blocked domains are left (topics.Setting)
	EndedFull        = "full"        // the definition's MaxPages are written
	EndedStopped     = "stopped"     // a control record asked for it (topics.Control)
	EndedInterrupted = "interrupted" // the context ended
)
