package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/bodies"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/store"
	"github.com/weftcrawl/weft/topics"
)

// Bodies that are too large for a record are in a store beside the topics. An
// export holds them in the records of fetched that somebody still has to read;
// an import puts them into the store of the new crawl.

// OpenBodies opens the place of large bodies that a definition names.
type OpenBodies func(ctx context.Context, location string) (store.Bucket, error)

// ErrBodies means that a body has no place in the new crawl.
var ErrBodies = errors.New("bodies are too large for records: name a place for them with --bodies")

// largeBodies are those of one crawl. The store is opened when it is needed.
type largeBodies struct {
	open     OpenBodies
	location string
	fetched  string // name of the topic
	admin    *kadm.Client
	log      *slog.Logger
	store    *bodies.Store
}

func (l *largeBodies) use(ctx context.Context) (*bodies.Store, error) {
	if l.store != nil {
		return l.store, nil
	}
	bucket, err := l.open(ctx, l.location)
	if err != nil {
		return nil, err
	}
	// With authorised operations, because kadm answers from a cache without.
	listed, err := l.admin.ListTopics(kadm.WithAuthorizedOps(ctx), l.fetched)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", l.fetched, err)
	}
	l.store = bodies.New(bucket, listed[l.fetched].ID, l.log)
	return l.store, nil
}

// claim returns a record of fetched with its body. One that is missing or
// damaged stays so: whoever reads the record rejects it, there as here.
func (l *largeBodies) claim(ctx context.Context, value []byte) ([]byte, error) {
	if bodies.Reference(value) == nil {
		return value, nil
	}
	s, err := l.use(ctx)
	if err != nil {
		return nil, err
	}
	whole, err := s.Claim(ctx, value)
	if errors.Is(err, bodies.ErrMissing) || errors.Is(err, bodies.ErrDamaged) {
		return value, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a large body: %w", err)
	}
	var f weftpb.Fetched
	if err := proto.Unmarshal(whole, &f); err != nil {
		return value, nil // a record that parse rejects
	}
	f.Stored = nil
	if whole, err = proto.Marshal(&f); err != nil {
		return nil, fmt.Errorf("encode exchange: %w", err)
	}
	return whole, nil
}

// check returns a record of fetched as a crawl that d defines would have written
// it: without its body if that is large.
func (l *largeBodies) check(ctx context.Context, d topics.Definition, partition int32, value []byte) ([]byte, error) {
	switch {
	case d.Bodies == "" && bodies.Reference(value) != nil:
		return nil, fmt.Errorf("%w: one was missing or damaged when the crawl was exported, and its record has to be rejected", ErrBodies)
	case d.Bodies == "" && int64(len(value)) > topics.LargestInRecord:
		return nil, fmt.Errorf("%w: one of %d bytes is on its way", ErrBodies, len(value))
	case d.Bodies == "" || int64(len(value)) <= d.LargeBody():
		return value, nil
	}
	var f weftpb.Fetched
	if proto.Unmarshal(value, &f) != nil || int64(len(f.Body)) <= d.LargeBody() {
		return value, nil
	}
	s, err := l.use(ctx)
	if err != nil {
		return nil, err
	}
	if f.Stored, err = s.Put(ctx, partition, f.Id, f.Body); err != nil {
		return nil, fmt.Errorf("store a large body: %w", err)
	}
	f.Body = nil
	if value, err = proto.Marshal(&f); err != nil {
		return nil, fmt.Errorf("encode exchange: %w", err)
	}
	return value, nil
}
