package processors

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Output is a record that a stage writes because of an input. Domain places it,
// whatever its key is. Headers may be those of other records too.
type Output struct {
	Topic, Domain, Key string
	Value              []byte
	Headers            []kgo.RecordHeader
}

// Transform decides what a stateless stage makes of one record: what is to be
// written, or the reason why the record cannot be used. But for what it counts
// it is a function of the record, and safe for concurrent use.
type Transform func(r *kgo.Record) (out []Output, reason string)

// transforming is the handle of a stage that only transforms: an input is
// finished when all that it made is acknowledged.
func (o *outbox) transforming(transform Transform) handle {
	return func(ctx context.Context, r *kgo.Record, finish func(error)) {
		out, reason := o.guard(transform, r)
		o.write(ctx, r, out, reason, finish)
	}
}

// write writes what became of r, or rejects it for a reason.
func (o *outbox) write(ctx context.Context, r *kgo.Record, out []Output, reason string, finish func(error)) {
	switch {
	case reason != "":
		o.reject(ctx, r, reason, finish)
		return
	case len(out) == 0:
		finish(nil)
		return
	}
	acknowledged := gather(len(out), finish)
	for _, record := range out {
		o.send(ctx, record, acknowledged)
	}
}
