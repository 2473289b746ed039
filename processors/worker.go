package processors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// worker runs a stateless stage as a consumer group: at least once, many
// records at a time, in any order. A record is committed when it and every
// older one of its partition is finished, and it is finished when everything
// written because of it is acknowledged.
type worker struct {
	client *kgo.Client
	limit  limit
	open   *open // what is begun and not finished
	handle handle
	owner  owner // nil: nobody keeps a state by partition

	mu       sync.Mutex
	progress map[topicPartition]*Progress
	loading  map[topicPartition]context.CancelFunc // what the owner loads
	fail     context.CancelCauseFunc               // ends the polling with a record's failure

	loads sync.WaitGroup
}

// handle works on one record and calls finish exactly once, from any
// goroutine, when its output is acknowledged. An error ends the stage, which
// begins again at the commit.
type handle func(ctx context.Context, r *kgo.Record, finish func(error))

type topicPartition struct {
	topic     string
	partition int32
}

// owner keeps a state for each partition that the worker has.
type owner interface {
	// take is told of partitions that come, before their records.
	take(partitions []int32)
	// load makes a partition's state ready, or ends with ctx. The partition's records
	// come after it; those of others do not wait.
	load(ctx context.Context, partition int32)
	// release may wait, until ctx ends, before partitions go to somebody else.
	release(ctx context.Context, partitions []int32)
}

// limit bounds what a worker has begun and not finished.
type limit struct {
	goroutines int // that call handle
	records    int
	bytes      int64 // of record values
}

// groupOptions are the consumer options of every worker. Offsets are marked by
// hand; marked ones are committed in the background and before a rebalance.
func (e Env) groupOptions(stage topics.Stage, w *worker) []kgo.Opt {
	isolation := kgo.ReadUncommitted()
	if stage == topics.Normalize {
		isolation = kgo.ReadCommitted() // others write seeds, in transactions if they like
	}
	return append(e.joins(stage, e.SessionTimeout, e.Heartbeat),
		kgo.FetchIsolationLevel(isolation),
		kgo.KeepControlRecords(), // commits pass them, or the stage would be behind for ever
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(),
		kgo.AutoCommitInterval(commitEvery),
		kgo.OnPartitionsAssigned(func(ctx context.Context, c *kgo.Client, gained map[string][]int32) { w.take(ctx, c, gained) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, c *kgo.Client, lost map[string][]int32) {
			w.release(ctx, lost)
			// What cannot be committed is repeated by the next owner.
			_ = c.CommitMarkedOffsets(ctx)
			w.drop(lost)
		}),
		kgo.OnPartitionsLost(func(ctx context.Context, _ *kgo.Client, lost map[string][]int32) {
			gone, cancel := context.WithCancel(ctx)
			cancel()
			w.release(gone, lost) // for which nobody waits
			w.drop(lost)
		}),
		// Without it a batch could outlast the partition's loss and return, and
		// its old offsets would be marked before the ones read again.
		kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxBytes(2<<20),
		kgo.FetchMaxPartitionBytes(1<<20),
		kgo.FetchMaxWait(500*time.Millisecond),
	)
}

const commitEvery = 200 * time.Millisecond

func newWorker(l limit, h handle) *worker {
	return &worker{
		limit: l, open: newOpen(l), handle: h,
		progress: map[topicPartition]*Progress{}, loading: map[topicPartition]context.CancelFunc{},
	}
}

// run consumes until ctx ends or a record fails, then waits for what is in
// flight, commits it and leaves the group.
func (w *worker) run(ctx context.Context) error {
	// What is begun when ctx ends is finished, within drainTimeout.
	drained, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	polling, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	w.fail = fail
	jobs := make(chan job)
	var crew sync.WaitGroup
	for range w.limit.goroutines {
		crew.Go(func() {
			for j := range jobs {
				w.handle(drained, j.record, func(err error) { w.finish(j, err); w.open.release(j.bytes) })
			}
		})
	}
	err := w.poll(polling, jobs)
	if ctx.Err() == nil {
		err = errors.Join(err, context.Cause(polling))
	}
	close(jobs)
	defer time.AfterFunc(drainTimeout, stop).Stop()
	crew.Wait()
	w.open.drain(drained)
	return errors.Join(err, w.client.CommitMarkedOffsets(drained))
}

// drainTimeout bounds the wait for acknowledgements at the end of a worker.
const drainTimeout = 8 * time.Second

// job is one record and the progress of its partition.
type job struct {
	record   *kgo.Record
	bytes    int
	progress *Progress
}

// poll hands records to the crew until ctx ends.
func (w *worker) poll(ctx context.Context, jobs chan<- job) error {
	for {
		w.client.AllowRebalance()
		fetches := w.client.PollRecords(ctx, w.limit.records)
		if ctx.Err() != nil {
			return nil
		}
		if err := pollError(fetches); err != nil {
			return err
		}
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			if r.Attrs.IsControl() {
				w.finish(job{record: r, progress: w.begin(r)}, nil)
				continue
			}
			j := job{r, len(r.Value), w.begin(r)}
			if !w.open.acquire(ctx, j.bytes) {
				return nil
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				w.open.release(j.bytes)
				return nil
			}
		}
	}
}

// pollError returns the first error of a poll that retrying does not mend.
func pollError(fetches kgo.Fetches) error {
	var first error
	fetches.EachError(func(topic string, partition int32, err error) {
		if errors.Is(err, kerr.FencedInstanceID) {
			err = fmt.Errorf("%w: %w", errFatal, ledger.ErrNameTaken)
		}
		if first == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			first = fmt.Errorf("read %s/%d: %w", topic, partition, err)
		}
	})
	return first
}

func (w *worker) begin(r *kgo.Record) *Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := topicPartition{r.Topic, r.Partition}
	p := w.progress[key]
	if p == nil {
		p = new(Progress)
		w.progress[key] = p
	}
	p.Begin(r)
	return p
}

// finish books a record's end and marks what may be committed.
func (w *worker) finish(j job, err error) {
	if err != nil {
		w.fail(fmt.Errorf("record %d of %s/%d: %w", j.record.Offset, j.record.Topic, j.record.Partition, err))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last := j.progress.Finish(j.record.Offset)
	// A progress that was dropped belongs to the partition's next owner.
	if last != nil && w.progress[topicPartition{last.Topic, last.Partition}] == j.progress {
		w.client.MarkCommitRecords(last)
	}
}

// fetching is what take needs of a client.
type fetching interface {
	PauseFetchPartitions(map[string][]int32) map[string][]int32
	ResumeFetchPartitions(map[string][]int32)
}

// take has the owner load partitions that have come before their records are
// fetched.
func (w *worker) take(ctx context.Context, client fetching, gained map[string][]int32) {
	if w.owner == nil {
		return
	}
	client.PauseFetchPartitions(gained)
	for topic, partitions := range gained {
		w.owner.take(partitions)
		for _, p := range partitions {
			ctx, cancel := context.WithCancel(ctx)
			w.mu.Lock()
			w.loading[topicPartition{topic, p}] = cancel
			w.mu.Unlock()
			w.loads.Go(func() {
				defer cancel()
				w.owner.load(ctx, p)
				client.ResumeFetchPartitions(map[string][]int32{topic: {p}})
			})
		}
	}
}

// unload ends what the owner still loads.
func (w *worker) unload(lost map[string][]int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for topic, partitions := range lost {
		for _, p := range partitions {
			key := topicPartition{topic, p}
			if cancel := w.loading[key]; cancel != nil {
				cancel()
				delete(w.loading, key)
			}
		}
	}
}

// release gives the owner a while to let partitions go, and what is begun the same
// while to end: a record that is worked on when the next owner reads the partition's
// state would not be in it.
func (w *worker) release(ctx context.Context, lost map[string][]int32) {
	if w.owner == nil {
		return
	}
	w.unload(lost)
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	w.open.drain(ctx)
	for _, partitions := range lost {
		w.owner.release(ctx, partitions)
	}
}

// releaseTimeout bounds the wait of a rebalance for acknowledgements.
const releaseTimeout = 2 * time.Second

func (w *worker) drop(lost map[string][]int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for topic, partitions := range lost {
		for _, p := range partitions {
			delete(w.progress, topicPartition{topic, p})
		}
	}
}

// open counts what is begun and not finished, within a limit.
type open struct {
	limit limit

	mu      sync.Mutex
	records int
	bytes   int64
	changed chan struct{} // closed and renewed at every release
}

func newOpen(l limit) *open { return &open{limit: l, changed: make(chan struct{})} }

// acquire waits for room; a record larger than the limit goes alone. It
// returns false when ctx ends first.
func (o *open) acquire(ctx context.Context, bytes int) bool {
	for {
		o.mu.Lock()
		if o.records == 0 || o.records < o.limit.records && o.bytes+int64(bytes) <= o.limit.bytes {
			o.records++
			o.bytes += int64(bytes)
			o.mu.Unlock()
			return true
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (o *open) release(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.records--
	o.bytes -= int64(bytes)
	close(o.changed)
	o.changed = make(chan struct{})
}

// drain waits until nothing is open, or ctx ends.
func (o *open) drain(ctx context.Context) {
	for {
		o.mu.Lock()
		records, changed := o.records, o.changed
		o.mu.Unlock()
		if records == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
