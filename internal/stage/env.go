package stage

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Env is what every stage of a crawl shares.
type Env struct {
	// Cluster is where the topics are.
	Cluster kafka.Access
	// Embedded: the broker lives in this process, see package broker.
	Embedded bool
	// Compression of what is written, see topics.ProducerOptions. "none" suits the
	// embedded broker: its memory and its disk are those of this process.
	Compression string
	// Names of the crawl's topics and groups.
	Names topics.Names
	// Definition of the crawl, from its topic config.
	Definition topics.Definition
	// Dir holds the states of the stateful stages.
	Dir string
	// Checkpoints is where the stateful stages send their checkpoints; nil: nowhere.
	Checkpoints *ledger.Remote
	// Bodies is the store of bodies that are larger than Definition.LargeBody; nil: all
	// bodies are in records.
	Bodies *bodies.Store
	// Member is a stable name of this process.
	Member string
	// Instances are the ids with which this process is a static member of stages'
	// groups; see ledger.Options.Instance.
	Instances map[topics.Stage]string
	// SessionTimeout and Heartbeat of the groups of all stages but fetch, which has its
	// own. A process that died loses its partitions after the time-out.
	SessionTimeout, Heartbeat time.Duration
	// Reserve is the free disk below which nothing is released.
	Reserve *Reserve
	// Positions of the workers of this process; nil: they are not known.
	Positions *Positions
	// Clock is the wall clock for decisions about times and for records; nil: the
	// machine's.
	Clock func() time.Time
	// Pauses of stages; nil: no stage is paused.
	Pauses *Pauses
	// Settings of domains; nil: there are none.
	Settings *Settings
	// Known returns the number of URLs of the crawl in all partitions, by the last status
	// that this process has read. Nil or 0: the number is not known.
	Known func() int64
	// Troubles tells the users of the crawl what keeps stages of this process from working;
	// nil: troubles are not reported.
	Troubles *trouble.Reporter
	Meter    Meter
	Logger   *slog.Logger
}

// Meter is told what stages do. Reasons are few and fixed: never a URL or a domain.
// Its methods are called by many goroutines.
type Meter interface {
	// Rejected counts a record that a stage cannot use.
	Rejected(stage topics.Stage, reason string)
	// Normalized counts n URLs that are accepted ("accepted"), or refused for a reason.
	Normalized(reason string, n int)
	// Deduped counts URLs that are new, URLs that were seen before, and URLs that were
	// merged into a variant.
	Deduped(fresh, seen, merged int)
	// Ledger counts an incident of a ledger by its kind.
	Ledger(stage topics.Stage, kind string)
	// Exchange counts an HTTP exchange: the class of its error, or none; its status, 0
	// without a response; the bytes of its body on the wire; the times from the
	// connection to the first byte of the response, and of the whole exchange.
	Exchange(class string, status int, wireBytes int64, firstByte, total time.Duration)
	// Connected notes how long an exchange waited for the look-up of its host, and for its
	// connection with TLS. connect is 0 if the exchange used a kept connection.
	Connected(dns, connect time.Duration)
	// Page counts a page. bytes is the size of its body.
	Page(bytes int)
	// Sitemap counts a sitemap by how its reading ended, and its entries.
	Sitemap(outcome string, entries int)
	// MainText counts a page whose main text was looked for, by the outcome: article.Found, or
	// why it has none.
	MainText(outcome string)
	// Structured counts a page that has structured data of a source. StructuredProblem counts
	// something that is wrong with it.
	Structured(source string)
	StructuredProblem(source, problem string)
	// Extracted counts a page that a rule took fields out of. FieldFailed counts a field of a
	// rule that a page does not have as the rule says; field is empty if it is the whole page.
	// The definition of the crawl bounds the names.
	Extracted(rule string)
	FieldFailed(rule, field, failure string)
	// Duplicate counts a page that is a duplicate of another, at a distance; 0 is the
	// same text.
	Duplicate(distance int)
	// Slots notes that a request began (1) or ended (-1).
	Slots(change int)
	// PolitenessViolation counts a request that began when its domain or host should have been
	// left alone. There should never be one.
	PolitenessViolation(v politeness.Violation)
	// BreakerOpened counts a breaker that opened: of a host, or of an origin.
	BreakerOpened()
	// Outcomes reports, when this process gives a partition up, how many of its URLs
	// were settled since the crawl began, by reason.
	Outcomes(partition int32, outcomes map[string]int64)
	// Down reports, together with Outcomes, how many URLs wait for each host that is down.
	Down(partition int32, hosts map[string]int64)
}

// NoMeter is a Meter that counts nothing.
type NoMeter struct{ silence }

type silence struct{}

func (silence) Rejected(topics.Stage, string)                             {}
func (silence) Normalized(string, int)                                    {}
func (silence) Deduped(int, int, int)                                     {}
func (silence) Ledger(topics.Stage, string)                               {}
func (silence) Exchange(string, int, int64, time.Duration, time.Duration) {}
func (silence) Connected(time.Duration, time.Duration)                    {}
func (silence) Page(int)                                                  {}
func (silence) Sitemap(string, int)                                       {}
func (silence) MainText(string)                                           {}
func (silence) Structured(string)                                         {}
func (silence) StructuredProblem(string, string)                          {}
func (silence) Extracted(string)                                          {}
func (silence) FieldFailed(string, string, string)                        {}
func (silence) Duplicate(int)                                             {}
func (silence) Slots(int)                                                 {}
func (silence) PolitenessViolation(politeness.Violation)                  {}
func (silence) BreakerOpened()                                            {}
func (silence) Outcomes(int32, map[string]int64)                          {}
func (silence) Down(int32, map[string]int64)                              {}

// Producer makes a client that writes records of the loop, each to the partition that
// the record names.
func (e Env) Producer() (*kgo.Client, error) {
	opts := topics.DefaultProducerOptions()
	opts.Compression, opts.Manual = e.Compression, true
	return topics.NewProducer(e.Names, opts, e.Cluster.Options()...)
}

// Run runs a stage until ctx ends. When once ends before, the stage is built anew.
func (e Env) Run(ctx context.Context, stage topics.Stage, once func(context.Context) error) error {
	log := e.Logger.With("stage", stage)
	failures := &failures{env: e, stage: stage}
	err := supervise.Run(ctx, supervise.Options{
		Logger: log, Fatal: func(err error) bool { return errors.Is(err, ErrFatal) },
		Failed: failures.failed, Over: failures.over,
	}, once)
	if id := e.Instances[stage]; id != "" && !errors.Is(err, ledger.ErrNameTaken) {
		ledger.LeaveGroup(ctx, e.Cluster, e.Names.Group(stage), id, log)
	}
	return err
}

// ErrFatal marks an error that does not go away when the stage is built anew.
var ErrFatal = errors.New("cannot go on")
