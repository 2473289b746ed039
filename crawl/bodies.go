package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/topics"
)

// OpenStore opens the store that location names (see blob.Open) and tries all operations. The
// argument what is the plural name of its objects, for messages. The error wraps ErrUsage if the
// store cannot be used.
func OpenStore(ctx context.Context, what, location string) (blob.Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	bucket, err := blob.Open(ctx, location)
	if err != nil {
		return nil, fmt.Errorf("%w: store of %s: %w", ErrUsage, what, err)
	}
	if err := blob.Probe(ctx, bucket); err != nil {
		return nil, unusable(what, bucket, err)
	}
	return bucket, nil
}

// unusable is the error of a store that failed its test. It wraps ErrUsage, unless a later start
// may succeed: a supervisor must start the process again when the store works.
func unusable(what string, bucket blob.Bucket, err error) error {
	err = fmt.Errorf("%s cannot be kept in %s: %w", what, bucket, err)
	if blob.Temporary(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUsage, err)
}

// probeTimeout bounds the first use of a store.
const probeTimeout = 30 * time.Second

// openBodies opens the store of large bodies for the stages that write or read them; nil if
// there is none.
func (s *session) openBodies(ctx context.Context, d topics.Definition) (blob.Bucket, error) {
	fetched := s.env.Names.Fetched
	reads := slices.ContainsFunc(s.stages, func(stage topics.Stage) bool { return slices.Contains(s.env.Names.Inputs(stage), fetched) })
	fetches := slices.Contains(s.stages, topics.Fetch)
	location := d.Bodies
	switch {
	case location == "" || !reads && !fetches:
		return nil, nil
	case location == topics.InData && s.opts.embedded():
		location = s.opts.bodiesDir()
	case location == topics.InData && !reads && s.opts.Fetch.For(d).Client.MaxBodyBytes <= topics.LargestInRecord:
		return nil, nil // all bodies of this process fit in records
	case location == topics.InData:
		return nil, fmt.Errorf("%w: the large bodies of crawl %s are in the data directory of the process that has its broker;"+
			" other processes take part in a crawl that was begun with --bodies", ErrUsage, d.Crawl)
	}
	return OpenStore(ctx, "large bodies", location)
}

// useBodies gives the stages a store for the present topic fetched.
func (s *session) useBodies(ctx context.Context, bucket blob.Bucket) error {
	if bucket == nil {
		return nil
	}
	id, err := s.topicID(ctx, s.env.Names.Fetched)
	s.env.Bodies = bodies.New(bucket, id, s.log)
	return err
}

func (s *session) topicID(ctx context.Context, topic string) (kadm.TopicID, error) {
	listed, err := s.admin.ListTopics(ctx, topic)
	if err := cmp.Or(err, listed.Error()); err != nil {
		return kadm.TopicID{}, fmt.Errorf("describe %s: %w", topic, err)
	}
	return listed[topic].ID, nil
}

// collectBodies removes unused bodies from the store in the data directory while no stage
// runs: there is no other user of the store then. A body that cannot be removed now is
// removed later.
func (s *session) collectBodies(ctx context.Context) {
	if s.env.Bodies == nil || s.env.Definition.Bodies != topics.InData {
		return
	}
	if err := parse.CollectBodies(ctx, s.env); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Warn("removing unused bodies failed", "error", err)
	}
}

// tidy trims the topics of a drained crawl, in which no takeover follows, and removes the
// bodies of the trimmed records.
func (s *session) tidy(ctx context.Context) {
	if !s.opts.embedded() || s.env.Bodies == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	if err := s.janitor().Trim(ctx); err != nil {
		s.log.Warn("trimming failed", "error", err)
	}
	s.collectBodies(ctx)
}

// tidyTimeout bounds tidy.
const tidyTimeout = 5 * time.Second

// OpenBodies opens the store of large bodies that a definition names, to move a crawl. dir is
// its data directory; empty if it is on a cluster.
func OpenBodies(ctx context.Context, dir, location string) (blob.Bucket, error) {
	if location == topics.InData {
		if dir == "" {
			return nil, fmt.Errorf("%w: large bodies of the crawl are in the data directory of the process that has its broker: --data names it", ErrUsage)
		}
		location = Options{Dir: dir}.bodiesDir()
	}
	return OpenStore(ctx, "large bodies", location)
}

// BodyLoader returns a function that loads the body of a record of fetched from the store of
// definition d. dir is the crawl's data directory; empty if it is not known. The function
// returns the record unchanged if the body cannot be loaded soon.
func BodyLoader(ctx context.Context, d topics.Definition, dir string, log *slog.Logger) (func(context.Context, []byte) []byte, error) {
	location := d.Bodies
	if location == topics.InData && dir != "" {
		location = Options{Dir: dir}.bodiesDir()
	}
	if location == "" || location == topics.InData {
		return func(_ context.Context, value []byte) []byte { return value }, nil
	}
	bucket, err := blob.Open(ctx, location)
	if err != nil {
		return nil, fmt.Errorf("%w: store of large bodies: %w", ErrUsage, err)
	}
	s := bodies.New(bucket, kadm.TopicID{}, log)
	return func(ctx context.Context, value []byte) []byte {
		ctx, cancel := context.WithTimeout(ctx, loadTimeout)
		defer cancel()
		if whole, err := s.Load(ctx, value); err == nil {
			return whole
		}
		return value
	}, nil
}

// loadTimeout bounds the wait for a body.
const loadTimeout = 10 * time.Second
