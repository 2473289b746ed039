package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/weftcrawl/weft/store"
)

// Remote is a bucket that checkpoints are sent to, so that another machine can
// go on from them. All stages of a process share one: it sends one checkpoint
// at a time, those that wait longest first, and of each partition the newest.
//
// A checkpoint that waits is a directory of links beside the published one. One
// that cannot be sent waits for the bucket to come back, or for a newer one;
// nothing else waits for it.
type Remote struct {
	bucket store.Bucket
	log    *slog.Logger
	cancel context.CancelFunc
	ended  chan struct{}
	last   time.Duration // that Close may take

	mu      sync.Mutex
	waiting []*shipment // at most one of a partition
	sending *shipment   // nil: none
	closing bool
	changed chan struct{} // of capacity one
}

// NewRemote begins to send checkpoints to bucket. Close ends it.
func NewRemote(bucket store.Bucket, log *slog.Logger) *Remote {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Remote{bucket: bucket, log: log, cancel: cancel, ended: make(chan struct{}), last: lastSendTimeout, changed: make(chan struct{}, 1)}
	go func() {
		defer close(r.ended)
		r.run(ctx)
	}()
	return r
}

// Close sends what waits, tries each checkpoint once and all of them for a few
// seconds, and ends. It follows the end of the stages.
func (r *Remote) Close() {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	r.wake()
	late := time.AfterFunc(r.last, r.cancel)
	<-r.ended
	late.Stop()
	r.cancel()
}

const (
	// lastSendTimeout leaves most of the ten seconds of a graceful end to the rest.
	lastSendTimeout = 2 * time.Second
	// sendTimeout bounds one checkpoint; a bucket that hangs is tried again.
	sendTimeout = time.Hour
	// The wait after a failure doubles from the first to the last.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// offer hands a checkpoint over, in place of an older one of its partition.
func (r *Remote) offer(s *shipment) {
	r.mu.Lock()
	var older []*shipment
	r.waiting = slices.DeleteFunc(r.waiting, func(w *shipment) bool {
		same := w.place == s.place
		if same {
			older = append(older, w)
		}
		return same
	})
	r.waiting = append(r.waiting, s)
	r.mu.Unlock()
	for _, w := range older {
		r.discard(w)
	}
	r.wake()
}

func (r *Remote) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// run sends until it is closed and nothing waits, or ctx ends.
func (r *Remote) run(ctx context.Context) {
	retry := firstRetry
	for {
		s, closing := r.next()
		switch {
		case s != nil && r.send(ctx, s, closing):
			retry = firstRetry
		case s != nil && !closing:
			r.pause(ctx, retry)
			retry = min(2*retry, lastRetry)
		case s == nil && closing:
			return
		case s == nil:
			r.pause(ctx, lastRetry)
		}
	}
}

// next takes the shipment that has waited longest, nil when none does.
func (r *Remote) next() (s *shipment, closing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 {
		s, r.waiting = r.waiting[0], r.waiting[1:]
		r.sending = s
	}
	return s, r.closing
}

// pause waits for a time, a new shipment, or the end.
func (r *Remote) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.changed:
	case <-ctx.Done():
	}
}

// send sends s and tells whether it is done with; else it waits again, unless
// that is the end of it.
func (r *Remote) send(ctx context.Context, s *shipment, last bool) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := s.send(ctx)
	r.mu.Lock()
	r.sending = nil
	newer := slices.ContainsFunc(r.waiting, func(w *shipment) bool { return w.place == s.place })
	again := err != nil && !last && !newer && !errors.Is(err, errSuperseded) && !errors.Is(err, errNoCheckpoint)
	if again {
		r.waiting = append(r.waiting, s)
	}
	r.mu.Unlock()
	if !again {
		r.discard(s)
	}
	switch {
	case err == nil:
		s.observe(HappenedSent)
	case errors.Is(err, errSuperseded):
		r.log.Info("checkpoint is not sent: the partition has another owner", "ledger", s.topic, "partition", s.partition)
	default:
		s.observe(HappenedUnsent)
		r.log.Warn("sending a checkpoint failed", "ledger", s.topic, "partition", s.partition, "to", r.bucket.String(), "error", err)
	}
	return err == nil || errors.Is(err, errSuperseded)
}

// discard removes the links of a shipment.
func (r *Remote) discard(s *shipment) {
	if err := os.RemoveAll(s.dir); err != nil {
		r.log.Warn("removing a sent checkpoint failed", "error", err)
	}
}

// sweep removes what killed processes have left to be sent in dir.
func (r *Remote) sweep(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, sendingDir+"*"))
	if err != nil {
		return fmt.Errorf("list unsent checkpoints: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range left {
		ours := func(s *shipment) bool { return s.dir == path }
		if r.sending != nil && ours(r.sending) || slices.ContainsFunc(r.waiting, ours) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove unsent checkpoint: %w", err)
		}
	}
	return nil
}

// sendingDir begins the names of directories that wait to be sent.
const sendingDir = "sending-"
