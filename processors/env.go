package processors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/bodies"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/supervise"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/trouble"
)

// Env is what every stage of a crawl shares.
type Env struct {
	// Cluster is where the topics are.
	Cluster cluster.Access
	// Embedded: the broker lives in this process, see package broker.
	Embedded bool
	// Compression of what is written, see topics.ProducerOptions. None spares
	// the embedded broker, which is this process's own memory and disk, the
	// work of packing and unpacking.
	Compression string
	// Names of the crawl's topics and groups.
	Names topics.Names
	// Definition of the crawl, from its topic config.
	Definition topics.Definition
	// Dir holds the states of the stateful stages.
	Dir string
	// Checkpoints is where those of the stateful stages are sent; nil: nowhere.
	Checkpoints *ledger.Remote
	// Bodies is where bodies larger than Definition.LargeBody are; nil: in
	// records, all of them.
	Bodies *bodies.Store
	// Member is a stable name of this process.
	Member string
	// Instances are the ids by which this process is a static member of stages'
	// groups; see ledger.Options.Instance.
	Instances map[topics.Stage]string
	// SessionTimeout and Heartbeat of the groups of all stages but fetch, whose
	// own are in its options. A process that died gives up its partitions when
	// the time-out has passed.
	SessionTimeout, Heartbeat time.Duration
	// Reserve is the free disk below which nothing is released.
	Reserve *Reserve
	// Clock is the wall clock: of decisions about times, and of records. Nil:
	// the machine's.
	Clock func() time.Time
	// Brakes hold stages; nil: nothing does.
	Brakes *Brakes
	// Troubles tells those who look at the crawl what keeps stages of this
	// process from working; nil: nobody is told.
	Troubles *trouble.Teller
	Meter    Meter
	Logger   *slog.Logger
}

// connection are the options that reach the brokers.
func (e Env) connection() []kgo.Opt { return e.Cluster.Client() }

// client makes a Kafka client with the environment's options and opts.
func (e Env) client(opts ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(e.connection(), opts...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", e.Cluster.Brokers, err)
	}
	return client, nil
}

// producer makes a client that writes to the loop, each record to the
// partition that it names.
func (e Env) producer() (*kgo.Client, error) {
	opts := topics.DefaultProducerOptions()
	opts.Compression, opts.Manual = e.Compression, true
	return topics.NewProducer(e.Names, opts, e.connection()...)
}

// now reads the wall clock.
func (e Env) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}

// run builds a stage anew whenever it ends before ctx.
func (e Env) run(ctx context.Context, stage topics.Stage, once func(context.Context) error) error {
	log := e.Logger.With("stage", stage)
	err := supervise.Run(ctx, supervise.Options{
		Logger: log, Fatal: func(err error) bool { return errors.Is(err, errFatal) }, Failed: e.failed(stage),
	}, once)
	if id := e.Instances[stage]; id != "" && !errors.Is(err, ledger.ErrNameTaken) {
		ledger.LeaveGroup(ctx, e.Cluster, e.Names.Group(stage), id, log)
	}
	return err
}

// failed tells everybody who looks at the crawl that a stage of this process
// ended by itself.
func (e Env) failed(stage topics.Stage) func(context.Context, supervise.Failure) {
	return func(ctx context.Context, f supervise.Failure) {
		e.Troubles.Tell(ctx, stage, trouble.Trouble{
			Kind: trouble.Fails, Says: f.Err.Error(), Times: f.Times, Since: f.Since, At: time.Now(),
		})
	}
}

// joins are the options of a member of a stage's group.
func (e Env) joins(stage topics.Stage, session, heartbeat time.Duration) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(e.Names.Group(stage)),
		kgo.ConsumeTopics(e.Names.Inputs(stage)...),
		// The second is that of members from before there was the first.
		kgo.Balancers(ledger.Rendezvous{Member: e.Member}, kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(session),
		kgo.HeartbeatInterval(heartbeat),
		kgo.RebalanceTimeout(rebalanceTimeout),
	}
	if id := e.Instances[stage]; id != "" {
		opts = append(opts, kgo.InstanceID(id))
	}
	return opts
}

// rebalanceTimeout is how long a group waits for a member that has to join again.
const rebalanceTimeout = time.Minute

// errFatal marks an error that building the stage anew cannot mend.
var errFatal = errors.New("cannot go on")

// stateless runs a stage as a group of workers with a producer of its own.
func (e Env) stateless(ctx context.Context, stage topics.Stage, l limit, handler func(out *outbox) handle) error {
	return e.owning(ctx, stage, l, nil, handler)
}

// owning is stateless for a stage with an owner of something in each partition.
func (e Env) owning(ctx context.Context, stage topics.Stage, l limit, owner owner, handler func(out *outbox) handle) error {
	return e.run(ctx, stage, func(ctx context.Context) error {
		producer, err := e.producer()
		if err != nil {
			return err
		}
		defer producer.Close()
		out := &outbox{env: e, stage: stage, client: producer}
		w := newWorker(l, out.fitting(handler(out)))
		w.owner = owner
		if w.client, err = e.client(e.groupOptions(stage, w)...); err != nil {
			return err
		}
		defer w.loads.Wait() // which the client's end ends
		defer w.client.CloseAllowingRebalance()
		defer e.brake(stage, w.client)()
		return w.run(ctx)
	})
}
