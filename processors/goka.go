package processors

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// stateful runs a stage whose group table is its output topic. It is the one
// place where stages meet goka, by way of package ledger.
func stateful[S ledger.State](ctx context.Context, env Env, name topics.Stage, stage ledger.Stage[S]) error {
	writing := topics.DefaultProducerOptions()
	writing.Compression, writing.Manual, writing.DeliveryTimeout = env.Compression, true, time.Minute
	producer, err := env.producer()
	if err != nil {
		return err
	}
	defer producer.Close()
	return ledger.Run(ctx, stage, ledger.Options{
		Brokers: env.Brokers,
		Client:  env.Client, Writer: writing.Client(env.Names),
		Dir: env.Dir, Member: env.Member, Embedded: env.Embedded,
		Reject: func(in ledger.Record, partition int32, reason string) error {
			env.Meter.Rejected(name, reason)
			value, err := proto.Marshal(rejection(name, &kgo.Record{
				Topic: in.Topic, Partition: partition, Offset: in.Offset, Key: []byte(in.Key), Value: in.Value,
			}, reason))
			if err != nil {
				return fmt.Errorf("marshal rejected record: %w", err)
			}
			return producer.ProduceSync(ctx, &kgo.Record{Topic: env.Names.Rejected, Key: []byte(in.Key), Value: value}).FirstErr()
		},
		Observe: func(h ledger.Happening) { env.Meter.Ledger(name, h.Kind) },
		Logger:  env.Logger,
	})
}

// marshal encodes the body of an event; nil stays nil: there is no event.
func marshal[M proto.Message](m M, none bool) ([]byte, error) {
	if none {
		return nil, nil
	}
	body, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("marshal event: %w", err)
	}
	return body, nil
}

// undecodable is the rejection of a record that is no record of its topic.
func undecodable() error { return &ledger.Rejection{Reason: "undecodable"} }

// rejection describes a record that a stage could not use.
func rejection(stage topics.Stage, r *kgo.Record, reason string) *weftpb.Rejected {
	return &weftpb.Rejected{
		Stage: string(stage), Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
		Reason: reason, Key: r.Key, Value: r.Value, AtMs: r.Timestamp.UnixMilli(),
	}
}
