package stage

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Output is a record that a stage writes because of an input. Domain places it,
// whatever its key is. Outputs may share their Headers.
type Output struct {
	Topic, Domain, Key string
	Value              []byte
	Headers            []kgo.RecordHeader
	// Acknowledged is called with the record and its offset when it is written, or
	// with the error; nil: nothing is called.
	Acknowledged func(*kgo.Record, error)
}

// Outbox writes what a stage makes, and what it cannot use. It is safe for
// concurrent use.
//
// It bounds the bytes that are on their way to the broker. The producer's own buffer must hold the
// largest record, 16 MiB, so it cannot be small. When the broker is busy the buffer fills with
// ordinary records. They become requests of 16 MiB, which producer, broker and consumers copy
// several times. More bytes on their way than it takes to keep the broker busy make no stage faster.
type Outbox struct {
	Env      Env
	Stage    topics.Stage
	Client   *kgo.Client
	inFlight *semaphore.Weighted // bytes, of maxInFlight
}

// maxInFlight bounds the records of an Outbox that are not acknowledged, bytes. A larger record is
// on its way alone.
const maxInFlight = 4 << 20

// NewOutbox returns an Outbox with a producer of its own. The caller closes it.
func (e Env) NewOutbox(stage topics.Stage) (*Outbox, error) {
	producer, err := e.Producer()
	if err != nil {
		return nil, err
	}
	return &Outbox{Env: e, Stage: stage, Client: producer, inFlight: semaphore.NewWeighted(maxInFlight)}, nil
}

// Close ends the producer. What is not acknowledged is lost.
func (o *Outbox) Close() { o.Client.Close() }

// Flush waits until everything that was sent is acknowledged or lost, also what waits in Send.
func (o *Outbox) Flush(ctx context.Context) error {
	if err := o.inFlight.Acquire(ctx, maxInFlight); err != nil { // which are in order
		return err
	}
	o.inFlight.Release(maxInFlight)
	return o.Client.Flush(ctx)
}

// Send writes a record. It calls then when the record is acknowledged or lost. It waits while too
// many bytes are on their way.
func (o *Outbox) Send(ctx context.Context, out Output, then func(*kgo.Record, error)) {
	r := &kgo.Record{
		Topic: out.Topic, Partition: topics.Partition(out.Domain, o.Env.Definition.Partitions),
		Key: []byte(out.Key), Value: out.Value, Headers: out.Headers, Timestamp: o.Env.now(),
	}
	size := min(int64(len(r.Key)+len(r.Value)), maxInFlight)
	if err := o.inFlight.Acquire(ctx, size); err != nil {
		go then(r, err) // a caller may hold what then needs
		return
	}
	o.Client.Produce(ctx, r, func(r *kgo.Record, err error) {
		o.inFlight.Release(size)
		if err != nil {
			err = fmt.Errorf("write to %s/%d: %w", r.Topic, r.Partition, err)
		}
		then(r, err)
	})
}

// Encode marshals a record of the loop.
func Encode(m proto.Message) []byte {
	value, err := proto.Marshal(m)
	if err != nil {
		// Only a string that is not UTF-8 fails, and stages make no such string.
		panic(fmt.Sprintf("marshal %T: %v", m, err))
	}
	return value
}

// Reject writes r to rejected and waits for the acknowledgement.
func (o *Outbox) Reject(ctx context.Context, r *kgo.Record, reason string) error {
	acknowledged := make(chan error, 1)
	o.reject(context.WithoutCancel(ctx), r, reason, func(_ *kgo.Record, err error) { acknowledged <- err })
	return <-acknowledged
}

// RejectOnPanic does the work on r. If the work panics, r is rejected.
func (o *Outbox) RejectOnPanic(ctx context.Context, r *kgo.Record, work func() error) (panicked bool, err error) {
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				o.logPanic(cause, r)
				panicked = true
			}
		}()
		err = work()
	}()
	if panicked {
		err = o.Reject(ctx, r, ReasonPanic)
	}
	return panicked, err
}

// reject writes r to rejected. It calls then when that is acknowledged or lost.
func (o *Outbox) reject(ctx context.Context, r *kgo.Record, reason string, then func(*kgo.Record, error)) {
	o.Env.Meter.Rejected(o.Stage, reason)
	o.Client.Produce(ctx, o.Env.rejected(o.Stage, r, reason), then)
}

// rejected describes a record that a stage cannot use. It has the key and the
// partition of that record.
func (e Env) rejected(stage topics.Stage, r *kgo.Record, reason string) *kgo.Record {
	return &kgo.Record{
		Topic: e.Names.Rejected, Partition: r.Partition, Key: r.Key[:min(len(r.Key), codecs.RejectedKeyBytes)],
		Value: codecs.EncodeRejected(&weftpb.Rejected{
			Stage: string(stage), Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
			Reason: reason, Key: r.Key, Value: r.Value, AtMs: e.now().UnixMilli(),
		}),
	}
}

// ReasonPanic is the reason of a record on which a stage's code panicked. The record is
// rejected, and the stage goes on. A program without the bug takes the record from
// rejected again. Stages with a ledger recover in package ledger.
const ReasonPanic = ledger.ReasonPanic

// logPanic logs a panic in the work on a record, from where it is recovered.
func (o *Outbox) logPanic(cause any, r *kgo.Record) {
	o.Env.Logger.Error("a record made its stage panic", "stage", o.Stage, "panic", fmt.Sprint(cause), "stack", supervise.StackTop(),
		"topic", r.Topic, "partition", r.Partition, "offset", r.Offset)
}

func (e Env) now() time.Time {
	if e.Clock == nil {
		return time.Now()
	}
	return e.Clock()
}
