package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Worker declares a stateless stage: a consumer group that works on many records
// at a time, in any order, each at least once.
type Worker struct {
	Stage   topics.Stage
	Limit   Limit
	Handler Handler
	Lane    *Lane          // nil: no record is slow
	State   PartitionState // nil: the stage keeps nothing for a partition
}

// Limit bounds what a worker has begun and not finished.
type Limit struct {
	Goroutines int // that call the Handler
	Records    int
	Bytes      int64 // of record values, but for those in the Lane
}

// RunWorker runs a stateless stage until ctx ends. A stage that fails is built
// anew.
func (e Env) RunWorker(ctx context.Context, s Worker) error {
	return e.Run(ctx, s.Stage, func(ctx context.Context) error {
		out, err := e.NewOutbox(s.Stage)
		if err != nil {
			return err
		}
		defer out.Close()
		w := newWorker(s, out)
		defer e.Positions.enter(w)()
		if w.client, err = e.Cluster.NewClient(w.consumerOptions(e)...); err != nil {
			return err
		}
		defer w.loads.Wait() // which the client's end ends
		defer w.client.CloseAllowingRebalance()
		defer e.FollowPauses(s.Stage, w.client)()
		return w.run(ctx)
	})
}

// worker is one life of a stateless stage. A record is committed when it and every
// older record of its partition are finished. It is finished when everything that
// was written because of it is acknowledged.
type worker struct {
	Worker
	client *kgo.Client
	out    *Outbox
	loads  sync.WaitGroup // of State

	mu       sync.Mutex
	begun    int           // tasks that have not ended
	bytes    int64         // of their records, without those in the lane
	inLane   int64         // bytes of the records in the lane
	ended    chan struct{} // closed and renewed at the end of every task
	progress map[topicPartition]*Progress
	loading  map[topicPartition]context.CancelFunc // what State loads
	fail     context.CancelCauseFunc               // ends the polling with a record's failure
}

type topicPartition struct {
	topic     string
	partition int32
}

func newWorker(s Worker, out *Outbox) *worker {
	if s.State != nil {
		s.State.Reset()
	}
	return &worker{
		Worker: s, out: out, ended: make(chan struct{}),
		progress: map[topicPartition]*Progress{}, loading: map[topicPartition]context.CancelFunc{},
	}
}

// CommitEvery is the time between two commits of a stage.
const CommitEvery = 200 * time.Millisecond

// DrainTimeout bounds the wait for acknowledgements at the end of a worker.
const DrainTimeout = 8 * time.Second

// run consumes until ctx ends or a record fails. Then it waits for the tasks that
// are begun, commits them and leaves the group.
func (w *worker) run(ctx context.Context) error {
	// What is begun when ctx ends is finished, within DrainTimeout.
	drained, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	polling, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	w.fail = fail
	tasks := make(chan *Task)
	var crew sync.WaitGroup
	for range w.Limit.Goroutines {
		crew.Go(func() {
			for t := range tasks {
				w.work(drained, ctx, t)
			}
		})
	}
	err := w.poll(polling, tasks)
	if ctx.Err() == nil {
		err = errors.Join(err, context.Cause(polling))
	}
	close(tasks)
	defer time.AfterFunc(DrainTimeout, stop).Stop()
	crew.Wait()
	w.drain(drained)
	return errors.Join(err, w.client.CommitMarkedOffsets(drained))
}

// poll hands records to the crew until ctx ends.
func (w *worker) poll(ctx context.Context, tasks chan<- *Task) error {
	for {
		w.client.AllowRebalance()
		fetches := w.client.PollRecords(ctx, w.Limit.Records)
		if ctx.Err() != nil {
			return nil
		}
		if err := PollError(fetches); err != nil {
			return err
		}
		for it := fetches.RecordIter(); !it.Done(); {
			t := w.begin(ctx, it.Next())
			switch {
			case t == nil:
				return nil
			case t.read.Attrs.IsControl():
				w.finish(t, nil)
				continue
			}
			select {
			case tasks <- t:
			case <-ctx.Done():
				w.finish(t, ctx.Err())
				return nil
			}
		}
	}
}

// work calls the Handler, in the lane if the record is slow.
func (w *worker) work(ctx, ending context.Context, t *Task) {
	defer t.recovered(ctx)
	if t.slow {
		w.Lane.begin(ctx, ending, t)
		return
	}
	w.Handler(ctx, t)
}

// PollError returns the first error of a poll that does not mend by itself.
func PollError(fetches kgo.Fetches) error {
	var first error
	fetches.EachError(func(topic string, partition int32, err error) {
		if errors.Is(err, kerr.FencedInstanceID) {
			err = fmt.Errorf("%w: %w", ErrFatal, ledger.ErrNameTaken)
		}
		if first == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			first = fmt.Errorf("read %s/%d: %w", topic, partition, err)
		}
	})
	return first
}

// begin waits until the Limit allows one more task. A record that is larger than
// the Limit is worked on alone, but for the Lane. begin returns nil when ctx ends first.
func (w *worker) begin(ctx context.Context, r *kgo.Record) *Task {
	t := &Task{Record: r, read: r, worker: w, bytes: int64(len(r.Value)), slow: w.Lane.takes(r)}
	w.mu.Lock()
	defer w.mu.Unlock()
	account, most := w.account(t)
	for w.begun > 0 && (w.begun >= w.Limit.Records || *account > 0 && *account+t.bytes > most) {
		if !w.awaitEnd(ctx) {
			return nil
		}
	}
	w.begun++
	*account += t.bytes
	key := topicPartition{r.Topic, r.Partition}
	if t.progress = w.progress[key]; t.progress == nil {
		t.progress = new(Progress)
		w.progress[key] = t.progress
	}
	t.progress.Begin(r)
	if t.slow {
		t.progress.slow = append(t.progress.slow, r.Offset)
	}
	return t
}

// account returns the bytes among which a task is counted, and their limit; w.mu is held.
func (w *worker) account(t *Task) (account *int64, most int64) {
	if t.slow {
		return &w.inLane, w.Lane.bytes
	}
	return &w.bytes, w.Limit.Bytes
}

// finish notes the end of a task, and marks what may be committed.
func (w *worker) finish(t *Task, err error) {
	if err != nil {
		w.fail(fmt.Errorf("record %d of %s/%d: %w", t.read.Offset, t.read.Topic, t.read.Partition, err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun--
	account, _ := w.account(t)
	*account -= t.bytes
	close(w.ended)
	w.ended = make(chan struct{})
	if err != nil {
		return
	}
	// It may wait long for the commit of an older one, which needs only its place. Each of its
	// bytes, those of headers too, would keep all that the broker sent with it.
	t.read.Key, t.read.Value, t.read.Headers = nil, nil, nil
	last := t.progress.Finish(t.read.Offset)
	// Progress that was dropped belongs to the partition's next owner.
	if last != nil && w.progress[topicPartition{last.Topic, last.Partition}] == t.progress {
		w.client.MarkCommitRecords(last)
	}
}

// drain waits until no task is begun, or ctx ends.
func (w *worker) drain(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.begun > 0 && w.awaitEnd(ctx) {
	}
}

// awaitEnd waits for the end of a task without w.mu, which the caller holds. It
// returns false when ctx ends first.
func (w *worker) awaitEnd(ctx context.Context) bool {
	ended := w.ended
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// Progress knows which records of one partition are begun and which of them are
// finished. A commit never passes a record that is not finished. The zero value
// has no records. It is not safe for concurrent use.
type Progress struct {
	begun    []*kgo.Record // in order of offsets; begun[0] is unfinished
	finished map[int64]bool
	next     int64   // offset behind the last one that was begun
	slow     []int64 // offsets that are in a lane and not finished, in order
}

// Begin notes that the work on a record begins. It is called in order of offsets.
func (p *Progress) Begin(r *kgo.Record) { p.begun, p.next = append(p.begun, r), r.Offset+1 }

// Finish notes that a record is finished. It returns the newest record that may be
// committed now; nil: none.
func (p *Progress) Finish(offset int64) (last *kgo.Record) {
	if p.finished == nil {
		p.finished = map[int64]bool{}
	}
	p.finished[offset] = true
	if i := slices.Index(p.slow, offset); i >= 0 {
		p.slow = slices.Delete(p.slow, i, i+1)
	}
	for len(p.begun) > 0 && p.finished[p.begun[0].Offset] {
		last = p.begun[0]
		delete(p.finished, last.Offset)
		p.begun[0] = nil
		p.begun = p.begun[1:]
	}
	return last
}
