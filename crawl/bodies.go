package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/bodies"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/store"
	"github.com/weftcrawl/weft/topics"
)

// OpenStore opens the store that location names (see store.Open) and tries
// everything that it is for. What names what is kept there, in the plural. An
// error that wraps ErrUsage says why it cannot be.
func OpenStore(ctx context.Context, what, location string) (store.Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	bucket, err := store.Open(ctx, location)
	if err != nil {
		return nil, fmt.Errorf("%w: place of %s: %w", ErrUsage, what, err)
	}
	if err := store.Probe(ctx, bucket); err != nil {
		return nil, fmt.Errorf("%w: %s cannot be kept in %s: %w", ErrUsage, what, bucket, err)
	}
	return bucket, nil
}

// probeTimeout bounds the first use of a store.
const probeTimeout = 30 * time.Second

// openBodies opens the store of large bodies for the stages that write and read
// them; nil: they have none.
func (s *session) openBodies(ctx context.Context, d topics.Definition) (store.Bucket, error) {
	parses := slices.Contains(s.stages, topics.Parse)
	fetches := slices.Contains(s.stages, topics.Fetch)
	location := d.Bodies
	switch {
	case location == "" || !parses && !fetches:
		return nil, nil
	case location == topics.InData && s.opts.embedded():
		location = s.opts.bodiesDir()
	case location == topics.InData && !parses && s.opts.Fetch.For(d).Client.MaxBodyBytes <= topics.LargestInRecord:
		return nil, nil // all that this process fetches fits in records
	case location == topics.InData:
		return nil, fmt.Errorf("%w: the large bodies of crawl %s are in the data directory of the process that has its broker;"+
			" other processes take part in a crawl that was begun with --bodies", ErrUsage, d.Crawl)
	}
	return OpenStore(ctx, "large bodies", location)
}

// useBodies has the stages use a store for the incarnation of fetched that
// there is.
func (s *session) useBodies(ctx context.Context, bucket store.Bucket) error {
	if bucket == nil {
		return nil
	}
	fetched := s.env.Names.Fetched
	listed, err := s.admin.ListTopics(ctx, fetched)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return fmt.Errorf("describe %s: %w", fetched, err)
	}
	s.env.Bodies = bodies.New(bucket, listed[fetched].ID, s.log)
	return nil
}

// collectBodies removes what nobody needs from the store in the data directory
// while no stage runs: nobody else has a say in it then. What cannot be removed
// now is another time.
func (s *session) collectBodies(ctx context.Context) {
	if s.env.Bodies == nil || s.env.Definition.Bodies != topics.InData {
		return
	}
	if err := processors.CollectBodies(ctx, s.env); err != nil && !errors.Is(err, context.Canceled) {
		s.log.Warn("bodies that nobody needs could not be removed", "error", err)
	}
}

// tidy trims behind a crawl that is drained, in which nobody will look for what
// was not reported, and removes the bodies of what is trimmed.
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

// tidyTimeout bounds what nobody waits for.
const tidyTimeout = 5 * time.Second

// OpenBodies opens the place of large bodies that a definition names, for those
// who move a crawl. dir is its data directory; empty: it is on a cluster.
func OpenBodies(ctx context.Context, dir, location string) (store.Bucket, error) {
	if location == topics.InData {
		if dir == "" {
			return nil, fmt.Errorf("%w: large bodies of the crawl are in the data directory of the process that has its broker: --data names it", ErrUsage)
		}
		location = Options{Dir: dir}.bodiesDir()
	}
	return OpenStore(ctx, "large bodies", location)
}

// Claiming returns what gives records of fetched the bodies that they refer to,
// for those who look at the crawl that d defines, whose data directory is dir, if
// they know it. A record whose body cannot be had soon is left as it is.
func Claiming(ctx context.Context, d topics.Definition, dir string, log *slog.Logger) (func(context.Context, []byte) []byte, error) {
	location := d.Bodies
	if location == topics.InData && dir != "" {
		location = Options{Dir: dir}.bodiesDir()
	}
	if location == "" || location == topics.InData {
		return func(_ context.Context, value []byte) []byte { return value }, nil
	}
	bucket, err := store.Open(ctx, location)
	if err != nil {
		return nil, fmt.Errorf("%w: place of large bodies: %w", ErrUsage, err)
	}
	s := bodies.New(bucket, kadm.TopicID{}, log)
	return func(ctx context.Context, value []byte) []byte {
		ctx, cancel := context.WithTimeout(ctx, claimTimeout)
		defer cancel()
		if whole, err := s.Claim(ctx, value); err == nil {
			return whole
		}
		return value
	}, nil
}

// claimTimeout bounds the wait for a body that is only looked at.
const claimTimeout = 10 * time.Second
