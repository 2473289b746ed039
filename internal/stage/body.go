package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/bodies"
)

// Reasons of records of fetched whose bodies are not in the store any more, or
// not as they were. Such a record is set aside like any other that cannot be
// used. The page is not asked for again: a store that lost one body probably lost
// more, and the crawled servers should not pay for that.
const (
	ReasonBodyMissing = "body_missing"
	ReasonBodyDamaged = "body_damaged"
)

// ErrNoBodies ends a process that does not know where bodies are.
var ErrNoBodies = fmt.Errorf("%w: fetched refers to bodies in a store that the crawl did not have when this process began; start it again", ErrFatal)

// LoadBody returns a copy of r with its body read from the store, or r if the body
// is in the record. If the body is lost, reason says why. LoadBody waits while the
// store does not work; err is then the error of ctx.
func (e Env) LoadBody(ctx context.Context, r *kgo.Record) (whole *kgo.Record, reason string, err error) {
	return e.loadBody(ctx, r, (*bodies.Store).Load, "a body cannot be read; its record goes to "+e.Names.Rejected)
}

// LoadBodyAsItCame is LoadBody for a reader that needs only the body with its content codings. If
// that was not stored, or is lost, the result has the decoded body.
func (e Env) LoadBodyAsItCame(ctx context.Context, r *kgo.Record) (whole *kgo.Record, reason string, err error) {
	if bodies.Reference(r.Value).GetCodedSize() > 0 {
		whole, reason, err = e.loadBody(ctx, r, (*bodies.Store).LoadCoded, "a body cannot be read with its content codings; it is read without them")
		if reason == "" {
			return whole, "", err
		}
	}
	return e.LoadBody(ctx, r)
}

// loadBody says otherwise in the log if the body is lost.
func (e Env) loadBody(ctx context.Context, r *kgo.Record, load func(*bodies.Store, context.Context, []byte) ([]byte, error), otherwise string) (whole *kgo.Record, reason string, err error) {
	if bodies.Reference(r.Value) == nil {
		return r, "", nil
	}
	if e.Bodies == nil {
		return nil, "", ErrNoBodies
	}
	value, err := load(e.Bodies, ctx, r.Value)
	switch {
	case err == nil:
		whole := *r
		whole.Value = value
		return &whole, "", nil
	case errors.Is(err, bodies.ErrMissing):
		reason = ReasonBodyMissing
	case errors.Is(err, bodies.ErrDamaged):
		reason = ReasonBodyDamaged
	default:
		return nil, "", err
	}
	e.Logger.Error(otherwise, "reason", reason, "error", err, "partition", r.Partition, "offset", r.Offset)
	return nil, reason, nil
}

// WithBody is middleware for readers of fetched: h gets the records with their
// bodies, and a record whose body is lost is rejected. used is called with a record
// and the key of its body when the output of h is acknowledged. It is not called
// for a rejected record, which may be replayed and needs its body then. When ending
// ends, no task waits for the store any more.
func (e Env) WithBody(ending context.Context, used func(r *kgo.Record, key string), h Handler) Handler {
	return func(ctx context.Context, t *Task) {
		ref := bodies.Reference(t.read.Value)
		if ref == nil {
			h(ctx, t)
			return
		}
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(ending, cancel)()
		whole, reason, err := e.LoadBody(waiting, t.read)
		switch {
		case err != nil:
			t.Fail(err)
		case reason != "":
			t.Finish(ctx, nil, reason)
		default:
			t.Record, t.used = whole, func() { used(t.read, ref.Key) }
			h(ctx, t)
		}
	}
}
