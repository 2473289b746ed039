package transfer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/topics"
)

// Bodies that are too large for a record are in a store beside the topics. An export puts
// them into the records of fetched that a stage still has to read; an import puts them
// into the store of the new crawl.

// OpenBodies opens the store of large bodies that a definition names.
type OpenBodies func(ctx context.Context, location string) (blob.Bucket, error)

// ErrBodies means that the new crawl has no store for a large body.
var ErrBodies = errors.New("bodies are too large for records: name a store for them with --bodies")

// largeBodies are the large bodies of one crawl. The store is opened at its first use.
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

// load returns a record of fetched with its body. If the body is missing or damaged, the
// record does not change: its reader rejects it in the new crawl as in the old one.
func (l *largeBodies) load(ctx context.Context, value []byte) ([]byte, error) {
	if bodies.Reference(value) == nil {
		return value, nil
	}
	s, err := l.use(ctx)
	if err != nil {
		return nil, err
	}
	whole, err := s.Load(ctx, value)
	if err == nil {
		whole, err = s.LoadCoded(ctx, whole)
	}
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

// put returns a record of fetched as the crawl of definition d writes it: a large body is
// in the store.
func (l *largeBodies) put(ctx context.Context, d topics.Definition, partition int32, value []byte) ([]byte, error) {
	switch {
	case d.Bodies == "" && bodies.Reference(value) != nil:
		return nil, fmt.Errorf("%w: one was missing or damaged when the crawl was exported, and its record has to be rejected", ErrBodies)
	case d.Bodies == "" && int64(len(value)) > topics.LargestInRecord:
		return decodedOnly(value)
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
	if f.Stored, err = s.Put(ctx, partition, f.Id, f.Body, f.CodedBody); err != nil {
		return nil, fmt.Errorf("store a large body: %w", err)
	}
	f.Body, f.CodedBody = nil, nil
	if value, err = proto.Marshal(&f); err != nil {
		return nil, fmt.Errorf("encode exchange: %w", err)
	}
	return value, nil
}

// decodedOnly returns a record of fetched that is too large without its coded body, as fetch writes
// it.
func decodedOnly(value []byte) ([]byte, error) {
	var f weftpb.Fetched
	if proto.Unmarshal(value, &f) == nil {
		f.CodedBody = nil
		if smaller, err := proto.Marshal(&f); err == nil && int64(len(smaller)) <= topics.LargestInRecord {
			return smaller, nil
		}
	}
	return nil, fmt.Errorf("%w: one of %d bytes is on its way", ErrBodies, len(value))
}
