package processors

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// outbox writes what a stage has to say.
type outbox struct {
	env    Env
	stage  topics.Stage
	client *kgo.Client
}

// send writes a record; then is called when it is acknowledged or lost.
func (o *outbox) send(ctx context.Context, out Output, then func(*kgo.Record, error)) {
	o.client.Produce(ctx, &kgo.Record{
		Topic: out.Topic, Partition: topics.Partition(out.Domain, o.env.Definition.Partitions),
		Key: []byte(out.Key), Value: out.Value, Headers: out.Headers, Timestamp: o.env.now(),
	}, then)
}

// sendProto writes a protobuf record, whose key is the domain.
func (o *outbox) sendProto(ctx context.Context, topic, domain string, m proto.Message, then func(*kgo.Record, error)) {
	o.send(ctx, Output{Topic: topic, Domain: domain, Key: domain, Value: encode(m)}, then)
}

// reject writes r to the topic rejected and finishes it when that is
// acknowledged.
func (o *outbox) reject(ctx context.Context, r *kgo.Record, reason string, finish func(error)) {
	o.env.Meter.Rejected(o.stage, reason)
	rejected := o.env.rejected(o.stage, r, reason)
	o.client.Produce(ctx, rejected, func(_ *kgo.Record, err error) { finish(err) })
}

// rejected describes a record that a stage could not use; it keeps the key and
// the partition.
func (e Env) rejected(stage topics.Stage, r *kgo.Record, reason string) *kgo.Record {
	return &kgo.Record{
		Topic: e.Names.Rejected, Partition: r.Partition, Key: r.Key[:min(len(r.Key), codecs.RejectedKeyBytes)],
		Value: codecs.EncodeRejected(&weftpb.Rejected{
			Stage: string(stage), Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
			Reason: reason, Key: r.Key, Value: r.Value, AtMs: e.now().UnixMilli(),
		}),
	}
}

// encode marshals a record of the loop.
func encode(m proto.Message) []byte {
	value, err := proto.Marshal(m)
	if err != nil {
		// Only a string that is not UTF-8 fails, and stages make none.
		panic(fmt.Sprintf("marshal %T: %v", m, err))
	}
	return value
}

// fitting rejects a record whose output is larger than its topic takes, which
// beginning again would not mend.
func (o *outbox) fitting(h handle) handle {
	return func(ctx context.Context, r *kgo.Record, finish func(error)) {
		h(ctx, r, func(err error) {
			if errors.Is(err, kerr.MessageTooLarge) {
				// Not from within the acknowledgement, which may hold the
				// buffer's last room.
				go o.reject(ctx, r, "output_too_large", finish)
				return
			}
			finish(err)
		})
	}
}
