package stage

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// Stateful runs a stage with a ledger: what the stage decides is in the topic that
// it writes, and its state is the fold of that topic.
func Stateful(ctx context.Context, env Env, name topics.Stage, proc ledger.Processor) error {
	writing := topics.DefaultProducerOptions()
	writing.Compression, writing.Manual, writing.DeliveryTimeout = env.Compression, true, time.Minute
	producer, err := env.Producer()
	if err != nil {
		return err
	}
	defer producer.Close()
	failures := &failures{env: env, stage: name}
	return ledger.Run(ctx, proc, ledger.Options{
		Cluster: env.Cluster,
		Writer:  func() []kgo.Opt { return writing.Client(env.Names) },
		Dir:     env.Dir, Member: env.Member, Instance: env.Instances[name], Embedded: env.Embedded,
		Remote:         env.Checkpoints,
		SessionTimeout: env.SessionTimeout, Heartbeat: env.Heartbeat,
		Reject: func(in ledger.InputRecord, partition int32, reason string) error {
			env.Meter.Rejected(name, reason)
			rejected := env.rejected(name, &kgo.Record{
				Topic: in.Topic, Partition: partition, Offset: in.Offset, Key: []byte(in.Key), Value: in.Value,
			}, reason)
			return producer.ProduceSync(ctx, rejected).FirstErr()
		},
		Paused: func() (bool, <-chan struct{}) {
			control, changed := env.Pauses.now()
			return control.Pauses(name), changed
		},
		Failed:  failures.failed,
		Over:    failures.over,
		Observe: func(kind string, _ int32) { env.Meter.Ledger(name, kind) },
		Logger:  env.Logger,
	})
}

// Undecodable returns the rejection of a record that is not a record of its topic,
// or whose key is not a domain.
func Undecodable() error { return &ledger.Rejection{Reason: "undecodable"} }

// InPlace returns the rejection of a record whose key is not a domain, or is a
// domain of another partition. A domain in two partitions would have two owners,
// which do not keep the delay between their requests.
func InPlace(key string, partition, partitions int32) error {
	switch {
	case !IsDomain(key):
		return Undecodable()
	case partitions > 0 && topics.Partition(key, partitions) != partition:
		return &ledger.Rejection{Reason: "misplaced"}
	}
	return nil
}

// IsDomain reports whether a record's key can be one of the loop's.
func IsDomain(key string) bool { return key != "" && utf8.ValidString(key) }
