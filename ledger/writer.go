package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrFenced means that the ledger partition has another writer: the offsets
// acknowledged to this one have a gap.
var ErrFenced = errors.New("another owner wrote to the ledger")

// Log appends records to one topic partition, in order.
type Log interface {
	// Produce appends asynchronously; promise is called in the order of the
	// calls, with the record's offset set on success.
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
	// Flush waits for everything that was produced.
	Flush(ctx context.Context) error
	// Close fails what is not yet acknowledged and frees the connections.
	Close()
}

// Writer appends to one partition of a ledger. It is fail-stop: after its first error
// every later append fails, so that no event can follow a lost one. It verifies that
// acknowledged offsets have no gaps.
//
// Append must be called by one goroutine at a time; the rest is safe for
// concurrent use.
type Writer struct {
	log       Log
	topic     string
	partition int32

	mu    sync.Mutex
	err   error // first error; never cleared
	acked int64 // offset of the last acknowledged record, -1 before
	sent  int64 // offset that the last appended record must get, -1 before the claim
}

// NewWriter returns a writer that owns log.
func NewWriter(log Log, topic string, partition int32) *Writer {
	return &Writer{log: log, topic: topic, partition: partition, acked: -1, sent: -1}
}

// Append appends one record and calls done with the record's offset when it is
// acknowledged, or with an error when it is lost.
func (w *Writer) Append(key string, value []byte, done func(offset int64, err error)) {
	w.mu.Lock()
	err := w.err
	var want int64 = -1
	if err == nil && w.sent >= 0 {
		w.sent++
		want = w.sent
	}
	w.mu.Unlock()
	if err != nil {
		done(-1, err)
		return
	}
	r := &kgo.Record{Topic: w.topic, Partition: w.partition, Value: value}
	if key != "" {
		r.Key = []byte(key)
	}
	w.log.Produce(context.Background(), r, func(r *kgo.Record, err error) {
		w.mu.Lock()
		switch {
		case w.err != nil:
		case err != nil:
			w.err = fmt.Errorf("append to %s/%d: %w", w.topic, w.partition, err)
		case want >= 0 && r.Offset != want:
			w.err = fmt.Errorf("append to %s/%d: offset %d instead of %d: %w", w.topic, w.partition, r.Offset, want, ErrFenced)
		default:
			w.acked = r.Offset
		}
		err = w.err
		w.mu.Unlock()
		done(r.Offset, err)
	})
}

// AppendClaim appends a claim. Once it is acknowledged, later appends must follow it
// without a gap.
func (w *Writer) AppendClaim(value []byte, done func(offset int64, err error)) {
	w.Append("", value, func(offset int64, err error) {
		if err == nil {
			w.mu.Lock()
			w.sent = offset
			w.mu.Unlock()
		}
		done(offset, err)
	})
}

// Claim appends a claim, waits for it, and returns its offset.
func (w *Writer) Claim(ctx context.Context, value []byte) (int64, error) {
	return w.await(ctx, func(done func(int64, error)) { w.AppendClaim(value, done) })
}

// await appends in the given way, and waits for the acknowledgement.
func (w *Writer) await(ctx context.Context, add func(done func(offset int64, err error))) (int64, error) {
	type ack struct {
		offset int64
		err    error
	}
	acked := make(chan ack, 1)
	add(func(offset int64, err error) { acked <- ack{offset, err} })
	select {
	case <-ctx.Done():
		w.Poison(fmt.Errorf("claim %s/%d: %w", w.topic, w.partition, ctx.Err()))
		return -1, w.Err()
	case a := <-acked:
		return a.offset, a.err
	}
}

// Poison makes every later append fail with err, unless it failed before.
func (w *Writer) Poison(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// Err returns the first error, nil while the writer is sound.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Acked returns the offset of the last acknowledged record, -1 for none.
func (w *Writer) Acked() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acked
}

// Flush waits until everything appended is acknowledged or lost.
func (w *Writer) Flush(ctx context.Context) error {
	if err := w.log.Flush(ctx); err != nil {
		return fmt.Errorf("flush %s/%d: %w", w.topic, w.partition, err)
	}
	return w.Err()
}

// Close drops the appends that are not acknowledged.
func (w *Writer) Close() { w.log.Close() }
