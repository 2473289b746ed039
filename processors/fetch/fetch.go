package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/fetch/lease"
	"github.com/weftcrawl/weft/topics"
)

// Options are the options of the stage fetch in one process.
type Options struct {
	// Client makes the exchanges, unless there are Exchanges.
	Client httpclient.Options
	// Exchanges makes them in place of an HTTP client. Nil: an HTTP client does.
	Exchanges Exchanger
	// Queues make the requests of visits.
	Queues hostqueue.Options
	// Addresses are the budgets of addresses.
	Addresses addresses.Options
	// BacklogBytes is how much parse may be behind before requests wait: with the bodies of domains
	// that send much, and with the bodies of others; see Backlog.
	BacklogBytes int64
	// SessionTimeout and Heartbeat of the group. A request may start until the
	// time-out less LeaseMargin has passed since the last good heartbeat.
	SessionTimeout, Heartbeat, LeaseMargin time.Duration
}

// DefaultOptions returns what a crawl uses unless told otherwise.
func DefaultOptions() Options {
	return Options{
		Client: httpclient.DefaultOptions(), Queues: hostqueue.Defaults(), Addresses: addresses.DefaultOptions(), BacklogBytes: 64 << 20,
		SessionTimeout: 10 * time.Second, Heartbeat: 250 * time.Millisecond, LeaseMargin: 2 * time.Second,
	}
}

// For returns the options for the crawl that d defines.
func (o Options) For(d topics.Definition) Options {
	o.Client = settings.ClientOptions(o.Client, d)
	o.Queues.PerDomain = d.PerDomain
	o.Addresses = settings.AddressOptions(o.Addresses, d)
	return o
}

// Run runs the stage fetch until ctx ends.
func Run(ctx context.Context, env stage.Env, opts Options) error {
	exchanges := opts.Exchanges
	if exchanges == nil {
		client, err := httpclient.New(opts.Client)
		if err != nil {
			return err
		}
		defer client.Close()
		exchanges = client
	}
	low := new(atomic.Bool)
	if env.Embedded { // otherwise the topics are not on this disk
		var stop func()
		low, stop = stage.WatchReserve(ctx, env, "")
		defer stop()
	}
	return env.Run(ctx, topics.Fetch, func(ctx context.Context) error { return runFetcher(ctx, env, opts, exchanges, low) })
}

// fetcher is the stage from its start until an error or the end.
type fetcher struct {
	env        stage.Env
	opts       Options
	lease      *lease.Lease
	beats      *lease.Heartbeats
	backlog    *backpressure
	reporter   *reporter
	requester  *requester
	queues     *hostqueue.Queues
	assignment *assignment
}

// clients are the Kafka clients of a fetcher, apart from the group's member.
type clients struct {
	fetched, visited *stage.Outbox
	logs             *topiclog.Reader
}

// newFetcher returns a fetcher that has no partitions. Its writes end with writing. fail ends
// the fetcher.
func newFetcher(writing context.Context, fail func(error), env stage.Env, opts Options, http Exchanger, low *atomic.Bool, c clients) *fetcher {
	right := lease.New(opts.SessionTimeout-opts.LeaseMargin, lease.BootTime)
	assigned := new(partitions)
	backlog := newBackpressure(c.logs, env, opts)
	reporter := &reporter{visited: c.visited, life: writing, fail: fail}
	requester := &requester{
		env: env, http: http, lease: right, partitions: assigned, backlog: backlog, fetched: c.fetched, reporter: reporter,
		addresses: addresses.New(opts.Addresses, func() (mine, all int) { return assigned.len(), int(env.Definition.Partitions) }),
		witness:   newWitness(env, opts.Queues.PerDomain), low: low, look: opts.Heartbeat / 2,
		life: writing, fail: fail,
	}
	queues, beats := hostqueue.New(opts.Queues, requester), lease.NewHeartbeats(right)
	return &fetcher{
		env: env, opts: opts, lease: right, beats: beats,
		backlog: backlog, reporter: reporter, requester: requester, queues: queues,
		assignment: &assignment{
			env: env, margin: 2 * opts.Heartbeat, logs: c.logs, lease: right, beats: beats, partitions: assigned, backlog: backlog,
			reporter: reporter, fetched: c.fetched, queues: queues, life: writing,
		},
	}
}

// runFetcher runs a fetcher until an error or the end of ctx.
func runFetcher(ctx context.Context, env stage.Env, opts Options, http Exchanger, low *atomic.Bool) error {
	fetched, err := env.NewOutbox(topics.Fetch)
	if err != nil {
		return err
	}
	defer fetched.Close()
	visited, err := env.NewOutbox(topics.Fetch)
	if err != nil {
		return err
	}
	defer visited.Close()
	logs, err := topiclog.New(env.Cluster.Options()...)
	if err != nil {
		return err
	}
	defer logs.Close()

	writing, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	working, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	f := newFetcher(writing, fail, env, opts, http, low, clients{fetched: fetched, visited: visited, logs: logs})
	member, err := f.join()
	if err != nil {
		return err
	}
	defer member.CloseAllowingRebalance()

	work, workCtx := errgroup.WithContext(working)
	work.Go(func() error { return f.poll(workCtx, member) })
	work.Go(func() error { return f.backlog.follow(workCtx) })
	work.Go(func() error { return f.requester.wakeWaiters(workCtx) })
	work.Go(func() error { return f.reporter.follow(workCtx) })
	work.Go(func() error { return f.assignment.completeTakeovers(workCtx) })
	work.Go(func() error { return keepLease(workCtx, f.lease, opts.Heartbeat/2, f.assignment.partitions) })
	waiting := newWaiting(member, visited.Client, f.beats, env.Names.Group(topics.Fetch), env.Instances[topics.Fetch], opts.Heartbeat)
	work.Go(func() error { return waiting.follow(workCtx) })
	err = work.Wait()
	if ctx.Err() == nil {
		err = errors.Join(err, context.Cause(working))
	}

	// A broker that does not answer may stop writers for ever.
	defer time.AfterFunc(stage.DrainTimeout, end).Stop()
	if f.lease.Holds() {
		f.drain(writing)
		err = errors.Join(err, fetched.Flush(writing)) // acknowledged outcomes wait in their reports
		f.reporter.flush(func(int32) bool { return true })
	}
	f.assignment.partitions.end()
	f.queues.Close()
	return errors.Join(err, fetched.Flush(writing), visited.Flush(writing))
}

// drain begins no request any more and waits up to drainTimeout for the requests in flight. The
// next fetcher makes again what is cut off.
func (f *fetcher) drain(ctx context.Context) {
	f.requester.draining.Store(true)
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	// The time-out is not an error: what is in flight then is cut off.
	_ = supervise.Until(ctx, 10*time.Millisecond, func() (bool, error) { return f.queues.Open() == 0, nil })
}

// drainTimeout is how long requests in flight may take to end when the fetcher ends.
const drainTimeout = 3 * time.Second

// join makes the client that is a member of the stage's group.
func (f *fetcher) join() (*kgo.Client, error) {
	return f.env.Cluster.NewClient(append(f.env.MemberOptions(topics.Fetch, f.opts.SessionTimeout, f.opts.Heartbeat),
		kgo.BlockRebalanceOnPoll(),
		kgo.AutoCommitInterval(stage.CommitEvery),
		kgo.WithHooks(heartbeats{f.beats}),
		kgo.AdjustFetchOffsetsFn(f.assignment.onAssigned),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { f.assignment.onRevoked(lost) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { f.assignment.onLost(lost) }),
		kgo.FetchMaxBytes(1<<20),
	)...)
}

// poll folds scheduled, and starts the visits that are released, until ctx ends.
func (f *fetcher) poll(ctx context.Context, member *kgo.Client) error {
	for {
		fetches := member.PollRecords(ctx, 1000)
		err := stage.PollError(fetches)
		for it := fetches.RecordIter(); err == nil && !it.Done(); {
			r := it.Next()
			p := f.assignment.partitions.get(r.Partition)
			if p == nil {
				continue // revoked since it was fetched
			}
			var start []*ReleasedVisit
			if start, err = p.visits.Fold(string(r.Key), r.Value, r.Partition, r.Offset); err != nil {
				err = fmt.Errorf("%w: %w", stage.ErrFatal, err)
			}
			for _, v := range start {
				f.queues.Start(v.Context, v.Visit)
			}
		}
		member.AllowRebalance()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
