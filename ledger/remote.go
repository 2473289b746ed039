package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/weftcrawl/weft/internal/blob"
)

// Remote sends checkpoints to a bucket, so that another machine can go on from them.
// All stages of a process share one Remote. It sends one checkpoint at a time: the
// one that has waited longest, and of each partition only the newest.
//
// A checkpoint that waits is a directory of links beside the published one. If it
// cannot be sent, it waits until the bucket comes back or a newer one replaces it.
// Nothing else waits for it.
type Remote struct {
	bucket blob.Bucket
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
func NewRemote(bucket blob.Bucket, log *slog.Logger) *Remote {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Remote{bucket: bucket, log: log, cancel: cancel, ended: make(chan struct{}), last: lastSendTimeout, changed: make(chan struct{}, 1)}
	go func() {
		defer close(r.ended)
		r.run(ctx)
	}()
	return r
}

// Close tries to send each waiting checkpoint once, for a few seconds in all, and
// ends. The stages must have ended.
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
	// lastSendTimeout leaves most of the ten seconds of a graceful end to the stages.
	lastSendTimeout = 2 * time.Second
	// sendTimeout bounds the sending of one checkpoint, in case the bucket hangs.
	sendTimeout = time.Hour
	// The wait after a failure doubles from the first to the last.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// offer queues a checkpoint, in place of an older one of its partition.
func (r *Remote) offer(s *shipment) {
	r.mu.Lock()
	if i := r.waits(s.place); i >= 0 {
		defer r.discard(r.waiting[i])
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	r.waiting = append(r.waiting, s)
	r.mu.Unlock()
	r.wake()
}

// waits is the number of the shipment of a partition that waits; -1: there is none.
func (r *Remote) waits(at place) int {
	return slices.IndexFunc(r.waiting, func(w *shipment) bool { return w.place == at })
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
	select {
	case <-time.After(d):
	case <-r.changed:
	case <-ctx.Done():
	}
}

// send sends s and tells whether s is done with. If not, s waits again, unless this
// was the last attempt.
func (r *Remote) send(ctx context.Context, s *shipment, last bool) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := s.send(ctx)
	r.mu.Lock()
	r.sending = nil
	again := err != nil && !last && r.waits(s.place) < 0 && !errors.Is(err, errSuperseded) && !errors.Is(err, errNoCheckpoint)
	if again {
		r.waiting = append(r.waiting, s)
	}
	r.mu.Unlock()
	if !again {
		r.discard(s)
	}
	switch {
	case err == nil:
		s.observe(IncidentSent)
	case errors.Is(err, errSuperseded):
		r.log.Info("checkpoint is not sent: the partition has another owner", "ledger", s.topic, "partition", s.partition)
	default:
		s.observe(IncidentUnsent)
		r.log.Warn("sending a checkpoint failed", "ledger", s.topic, "partition", s.partition, "to", r.bucket.String(), "error", err)
	}
	return err == nil || errors.Is(err, errSuperseded)
}

func (r *Remote) discard(s *shipment) {
	if err := os.RemoveAll(s.dir); err != nil {
		r.log.Warn("removing a sent checkpoint failed", "error", err)
	}
}

// sweep removes checkpoints in dir that a killed process had still to send.
func (r *Remote) sweep(dir string) error {
	left, err := fs.Glob(os.DirFS(dir), sendingDir+"*")
	if err != nil {
		return fmt.Errorf("list unsent checkpoints: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range left {
		path := filepath.Join(dir, name)
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

const sendingDir = "sending-"
