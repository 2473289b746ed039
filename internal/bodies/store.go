package bodies

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
)

// Store has the large bodies of one crawl. It is safe for concurrent use.
type Store struct {
	bucket  blob.Bucket
	topic   string
	log     *slog.Logger
	sending chan struct{}
	waiting atomic.Int64
}

// sendAtOnce bounds the uploads of a process, and so their buffers.
const sendAtOnce = 4

// New returns the bodies in bucket of the topic fetched with this id.
func New(bucket blob.Bucket, topic kadm.TopicID, log *slog.Logger) *Store {
	// Kafka's text of an id may have slashes, which separate folders in keys.
	return &Store{bucket: bucket, topic: hex.EncodeToString(topic[:]), log: log, sending: make(chan struct{}, sendAtOnce)}
}

// Put stores the body of a page whose record will be in a partition, and the body with its content
// codings, unless coded is empty. It returns the reference for the record. It fails only with the
// error of ctx.
func (s *Store) Put(ctx context.Context, partition int32, page string, body, coded []byte) (*weftpb.BodyReference, error) {
	select {
	case s.sending <- struct{}{}:
		defer func() { <-s.sending }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ref := &weftpb.BodyReference{Key: fmt.Sprintf("%s/%d/%s.%s", s.topic, partition, page, rand.Text())}
	var err error
	if len(coded) > 0 {
		ref.CodedSize = int64(len(coded))
		ref.CodedSha256, err = s.put(ctx, ref.Key+codedSuffix, coded)
	}
	if err == nil {
		ref.Size = int64(len(body))
		ref.Sha256, err = s.put(ctx, ref.Key, body)
	}
	if err != nil {
		return nil, err
	}
	return ref, nil
}

func (s *Store) put(ctx context.Context, key string, text []byte) (sum []byte, _ error) {
	of := sha256.Sum256(text)
	return of[:], s.persist(ctx, func(ctx context.Context) error {
		return s.bucket.Put(ctx, key, bytes.NewReader(text), int64(len(text)))
	})
}

// codedSuffix is behind the key of a body in the key of its coded form.
const codedSuffix = ".coded"

// Delete removes a body in both forms, if they are there.
func (s *Store) Delete(ctx context.Context, key string) error {
	return errors.Join(s.bucket.Delete(ctx, key+codedSuffix), s.bucket.Delete(ctx, key))
}

// Keys yields the keys of all bodies of the topic with their partitions. It ends with the
// first error. It leaves out objects of other programs. A body of two forms comes twice.
func (s *Store) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		for object, err := range s.bucket.List(ctx, s.topic+"/") {
			if err != nil {
				yield(Key{}, err)
				return
			}
			number, _, ok := strings.Cut(strings.TrimPrefix(object.Key, s.topic+"/"), "/")
			partition, err := strconv.ParseInt(number, 10, 32)
			if ok && err == nil && !yield(Key{strings.TrimSuffix(object.Key, codedSuffix), int32(partition)}, nil) {
				return
			}
		}
	}
}

// Key is the key of an object, with the partition of its record.
type Key struct {
	Name      string
	Partition int32
}

// Sweep removes half-written objects of writers that died before then.
func (s *Store) Sweep(ctx context.Context, then time.Time) error {
	return s.bucket.Sweep(ctx, s.topic+"/", then)
}

// Waiting reports whether an operation waits because the store does not work. It is false for
// a nil Store.
func (s *Store) Waiting() bool { return s != nil && s.waiting.Load() > 0 }

// String is the location without credentials.
func (s *Store) String() string { return s.bucket.String() }

const (
	// attemptTimeout bounds one attempt: a server may hang.
	attemptTimeout = 2 * time.Minute
	// Between two attempts.
	firstWait, longestWait = 200 * time.Millisecond, 10 * time.Second
	// sayEvery is the time between two log lines about the same trouble.
	sayEvery = time.Minute
)

// persist repeats op until it succeeds, or fails with an error that a repetition cannot fix,
// or ctx ends; then the error is the cause of ctx.
func (s *Store) persist(ctx context.Context, op func(context.Context) error) error {
	var said time.Time
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
		err := op(attempt)
		cancel()
		switch {
		case err == nil || errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged):
			if !said.IsZero() {
				s.log.Info("the store of large bodies works again", "store", s.bucket)
			}
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if said.IsZero() {
			s.waiting.Add(1)
			defer s.waiting.Add(-1)
		}
		if time.Since(said) >= sayEvery {
			said = time.Now()
			s.log.Error("the store of large bodies does not work; its users wait", "store", s.bucket, "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
