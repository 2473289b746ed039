package processors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/lease"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/supervise"
	"github.com/weftcrawl/weft/topics"
)

// FetchOptions are the options of the stage fetch in one process.
type FetchOptions struct {
	// Client makes the exchanges.
	Client fetch.Options
	// Lanes make the requests of visits.
	Lanes lanes.Options
	// BacklogBytes is how much parse may be behind before requests wait: with the
	// bodies of domains that send much, and with those of others; see Backlog.
	BacklogBytes int64
	// SessionTimeout and Heartbeat of the group. A request may start until
	// the time-out less LeaseMargin has passed since the last good heartbeat.
	SessionTimeout, Heartbeat, LeaseMargin time.Duration
}

// DefaultFetchOptions returns what a crawl uses unless told otherwise.
func DefaultFetchOptions() FetchOptions {
	return FetchOptions{
		Client: fetch.DefaultOptions(), Lanes: lanes.Defaults(), BacklogBytes: 64 << 20,
		SessionTimeout: 10 * time.Second, Heartbeat: 250 * time.Millisecond, LeaseMargin: 2 * time.Second,
	}
}

// For returns the options for the crawl that d defines: its agent, its limits
// of open requests a domain and of bodies, and the addresses it may ask.
func (o FetchOptions) For(d topics.Definition) FetchOptions {
	o.Client.UserAgent, o.Client.Contact = d.UserAgent, d.Contact
	o.Client.AllowPrivate, o.Client.AllowNetworks = d.AllowPrivate, d.AllowNetworks
	if d.MaxBody > 0 {
		o.Client.MaxBodyBytes = d.MaxBody
		o.Client.LargeBodyBytes = max(o.Client.LargeBodyBytes, d.MaxBody)
	}
	o.Client.Insecure = d.Insecure
	if d.MinRate != 0 {
		o.Client.MinBodyRate = d.MinRate
	}
	o.Lanes.PerDomain = d.PerDomain
	return o
}

// Fetch runs the stage fetch until ctx ends: it reads scheduled and writes
// fetched, one exchange each, and visited, the outcomes of visits. What to
// fetch is decided by the ledger; when is kept by lanes, whatever arrives.
//
// It takes its work from the ledger and not from commits: a partition is read
// from the offset that its last record calls oldest (see Board).
func Fetch(ctx context.Context, env Env, opts FetchOptions) error {
	client, err := fetch.New(opts.Client)
	if err != nil {
		return err
	}
	defer client.Close()
	low := new(atomic.Bool)
	if env.Embedded { // elsewhere it is not this disk that fills up
		var stop func()
		low, stop = watchReserve(ctx, env, "")
		defer stop()
	}
	return env.run(ctx, topics.Fetch, func(ctx context.Context) error {
		f := &fetcher{
			env: env, opts: opts, http: client, low: low,
			lease:  lease.New(opts.SessionTimeout-opts.LeaseMargin, lease.BootTime),
			boards: map[int32]*Board{},
		}
		f.beats = lease.NewHeartbeats(f.lease)
		return f.run(ctx)
	})
}

// fetcher is one life of the stage.
type fetcher struct {
	env     Env
	opts    FetchOptions
	http    exchanger
	out     *outbox // fetched
	reports *outbox // visited; see report.part
	logs    *replay.Reader
	lease   *lease.Lease
	beats   *lease.Heartbeats
	resting atomic.Bool  // no request begins any more
	low     *atomic.Bool // the disk is below its reserve
	asking  *requests
	lanes   *lanes.Lanes
	backlog *pushback
	life    context.Context         // of everything that is written
	fail    context.CancelCauseFunc // ends this life: a write was lost, and the ledger knows what to do again

	mu     sync.Mutex
	boards map[int32]*Board // of the partitions that are ours
}

func (f *fetcher) run(ctx context.Context) error {
	producer, err := f.env.producer()
	if err != nil {
		return err
	}
	defer producer.Close()
	reporter, err := f.env.producer()
	if err != nil {
		return err
	}
	defer reporter.Close()
	f.out = &outbox{env: f.env, stage: topics.Fetch, client: producer}
	f.reports = &outbox{env: f.env, stage: topics.Fetch, client: reporter}
	if f.logs, err = replay.New(f.env.connection()...); err != nil {
		return err
	}
	defer f.logs.Close()
	f.backlog = newPushback(f.logs, f.env.Names.Group(topics.Parse), f.env.Names.Fetched, f.opts)

	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	f.life = life
	f.asking = &requests{fetcher: f}
	f.lanes = lanes.New(f.opts.Lanes, f.asking)
	consumer, err := f.consumer()
	if err != nil {
		return err
	}
	defer consumer.CloseAllowingRebalance()

	working, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	f.fail = fail
	work, workCtx := errgroup.WithContext(working)
	work.Go(func() error { return f.backlog.follow(workCtx) })
	work.Go(func() error { return f.poll(workCtx, consumer) })
	work.Go(func() error { return f.keepLease(workCtx) })
	waiting := newWaiting(consumer, reporter, f.beats, f.env.Names.Group(topics.Fetch), f.env.Instances[topics.Fetch], f.opts.Heartbeat)
	work.Go(func() error { return waiting.follow(workCtx) })
	work.Go(func() error { return f.asking.tell(workCtx) })
	work.Go(func() error { return f.beginBoards(workCtx) })
	err = work.Wait()
	if ctx.Err() == nil {
		err = errors.Join(err, context.Cause(working))
	}

	// A broker that does not answer may hold writers for ever.
	defer time.AfterFunc(drainTimeout, end).Stop()
	if f.lease.Holds() {
		f.rest(life)
		err = errors.Join(err, producer.Flush(life)) // acknowledged outcomes wait in their reports
		f.asking.flush()
	}
	f.endAll()
	f.lanes.Close()
	return errors.Join(err, producer.Flush(life), reporter.Flush(life))
}

// errLease ends a life of the stage: its partitions may have another owner.
var errLease = errors.New("no good heartbeat for too long; what is in flight is cancelled")

// keepLease returns when a lease that was held has ended.
func (f *fetcher) keepLease(ctx context.Context) error {
	held := false
	return supervise.Every(ctx, f.opts.Heartbeat/2, func() error {
		switch {
		case f.lease.Holds():
			held = true
		case held:
			f.endAll()
			return errLease
		}
		return nil
	})
}

// rest begins no request any more and waits, not for long, for those in
// flight. What is cut off is made again by the next run.
func (f *fetcher) rest(ctx context.Context) {
	f.resting.Store(true)
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for f.lanes.Open() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// restTimeout is how long requests in flight may take to end.
const restTimeout = 3 * time.Second

// gate is what decides whether a request may be written.
func (f *fetcher) gate() Gate {
	return Gate{Leased: f.lease.Holds(), Paused: f.env.Brakes.held(topics.Fetch), Resting: f.resting.Load()}
}

// permitted tells whether a request may be written.
func (f *fetcher) permitted() bool { return f.gate().Permits() }

// consumer joins the group of the stage.
func (f *fetcher) consumer() (*kgo.Client, error) {
	return f.env.client(append(f.env.joins(topics.Fetch, f.opts.SessionTimeout, f.opts.Heartbeat),
		kgo.BlockRebalanceOnPoll(),
		kgo.AutoCommitInterval(commitEvery),
		kgo.WithHooks(heartbeats{f.beats}),
		kgo.AdjustFetchOffsetsFn(f.take),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			f.handOver(lost)
			f.drop(lost)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { f.drop(lost) }),
		kgo.FetchMaxBytes(2<<20),
	)...)
}

// poll folds scheduled into the boards and starts what is released.
func (f *fetcher) poll(ctx context.Context, consumer *kgo.Client) error {
	for {
		fetches := consumer.PollRecords(ctx, 1000)
		err := f.fold(ctx, fetches)
		consumer.AllowRebalance()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (f *fetcher) fold(ctx context.Context, fetches kgo.Fetches) error {
	if err := pollError(fetches); err != nil && ctx.Err() == nil {
		return err
	}
	for it := fetches.RecordIter(); !it.Done(); {
		r := it.Next()
		b := f.board(r.Partition)
		if b == nil {
			continue // revoked since it was fetched
		}
		start, err := b.Fold(string(r.Key), r.Value, r.Partition, r.Offset)
		if err != nil {
			return fmt.Errorf("%w: %w", errFatal, err)
		}
		for _, p := range start {
			f.start(b, p)
		}
	}
	return nil
}

// start gives a visit to its lane.
func (f *fetcher) start(b *Board, p *Posted) {
	b.Hold(p, 2*f.opts.Heartbeat)
	f.lanes.Start(p.ctx, p.visit)
}
