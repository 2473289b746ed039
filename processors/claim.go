package processors

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/bodies"
)

// Reasons of records of fetched whose bodies are not in the store any more, or
// not as they were. Such a record is set aside like any other that cannot be
// used: the page is not asked for again, since whoever lost one object lost
// more, and a crawl should not find that out from the servers' side.
const (
	reasonBodyMissing = "body_missing"
	reasonBodyDamaged = "body_damaged"
)

// errNoBodies ends a process that cannot know where bodies are.
var errNoBodies = fmt.Errorf("%w: fetched refers to bodies in a store that the crawl did not have when this process began; start it again", errFatal)

// claim is r as it would be if it held its body, or the reason why there is no
// such record. It waits for a store in trouble; the error is that of ctx.
func (e Env) claim(ctx context.Context, r *kgo.Record) (whole *kgo.Record, reason string, err error) {
	if bodies.Reference(r.Value) == nil {
		return r, "", nil
	}
	if e.Bodies == nil {
		return nil, "", errNoBodies
	}
	value, err := e.Bodies.Claim(ctx, r.Value)
	switch {
	case errors.Is(err, bodies.ErrMissing):
		reason = reasonBodyMissing
	case errors.Is(err, bodies.ErrDamaged):
		reason = reasonBodyDamaged
	case err != nil:
		return nil, "", err
	default:
		whole := *r
		whole.Value = value
		return &whole, "", nil
	}
	e.Logger.Error("a body cannot be read; its record goes to "+e.Names.Rejected, "reason", reason, "error", err,
		"partition", r.Partition, "offset", r.Offset)
	return nil, reason, nil
}

// pass works on record r of fetched, which is whole with its body, and calls
// finish once when what became of it is acknowledged; reason is why it was
// rejected, if it was.
type pass func(ctx context.Context, r, whole *kgo.Record, finish func(reason string, err error))

// passing is the pass that only transforms.
func (o *outbox) passing(transform Transform) pass {
	return func(ctx context.Context, r, whole *kgo.Record, finish func(string, error)) {
		out, reason := o.guard(transform, whole)
		o.write(ctx, r, out, reason, func(err error) { finish(reason, err) })
	}
}

// claiming is the handle of records of fetched; done is told of each body
// that is not needed any more once its record is gone. What is set aside keeps
// its body, for it may be replayed. Stage is the context of the stage: at its
// end nobody waits for a store.
func (o *outbox) claiming(stage context.Context, pass pass, done func(r *kgo.Record, key string)) handle {
	return func(ctx context.Context, r *kgo.Record, finish func(error)) {
		ref := bodies.Reference(r.Value)
		if ref == nil {
			pass(ctx, r, r, func(_ string, err error) { finish(err) })
			return
		}
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stage, cancel)()
		whole, reason, err := o.env.claim(waiting, r)
		switch {
		case err != nil:
			finish(err)
			return
		case reason != "":
			o.reject(ctx, r, reason, finish)
			return
		}
		pass(ctx, r, whole, func(reason string, err error) {
			if err == nil && reason == "" {
				done(r, ref.Key)
			}
			finish(err)
		})
	}
}
