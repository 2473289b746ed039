package processors

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

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
	return ledger.Run(ctx, guarded(env, name, stage), ledger.Options{
		Cluster: env.Cluster,
		Writer:  func() []kgo.Opt { return writing.Client(env.Names) },
		Dir:     env.Dir, Member: env.Member, Instance: env.Instances[name], Embedded: env.Embedded,
		Remote:         env.Checkpoints,
		SessionTimeout: env.SessionTimeout, Heartbeat: env.Heartbeat,
		Reject: func(in ledger.Record, partition int32, reason string) error {
			env.Meter.Rejected(name, reason)
			rejected := env.rejected(name, &kgo.Record{
				Topic: in.Topic, Partition: partition, Offset: in.Offset, Key: []byte(in.Key), Value: in.Value,
			}, reason)
			return producer.ProduceSync(ctx, rejected).FirstErr()
		},
		Held:    func() (bool, <-chan struct{}) { return env.Brakes.on(name) },
		Failed:  env.failed(name),
		Observe: func(h ledger.Happening) { env.Meter.Ledger(name, h.Kind) },
		Logger:  env.Logger,
	})
}

// undecodable is the rejection of a record that is no record of its topic, or of
// no domain.
func undecodable() error { return &ledger.Rejection{Reason: "undecodable"} }

// inPlace returns the rejection of a record that is of no domain, or of one that
// belongs to another partition: a domain of two partitions would have two owners,
// and no delay would hold between them.
func inPlace(key string, partition, partitions int32) error {
	switch {
	case !isDomain(key):
		return undecodable()
	case partitions > 0 && topics.Partition(key, partitions) != partition:
		return &ledger.Rejection{Reason: "misplaced"}
	}
	return nil
}

// isDomain reports whether a record's key can be one of the loop's.
func isDomain(key string) bool { return key != "" && utf8.ValidString(key) }
