package ledger

import (
	"context"
	"fmt"
	"hash"
	"math"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
	"github.com/lovoo/goka/codec"
	"github.com/lovoo/goka/storage"
	"github.com/twmb/franz-go/pkg/kgo"
)

// processor builds goka's processor of the partition. Its storage, writer, fold, group and
// clients are the ledger's.
func (t *table) processor() (*goka.Processor, error) {
	raw := new(codec.Bytes)
	edges := []goka.Edge{goka.Persist(raw)}
	for _, in := range t.run.Inputs {
		edges = append(edges, goka.Input(goka.Stream(in.Topic), raw, t.take))
	}
	tableSuffix()
	return goka.NewProcessor(t.run.opts.Cluster.Brokers, goka.DefineGroup(goka.Group(t.run.Ledger), edges...),
		goka.WithLogger(logger{t.run.log}),
		goka.WithPartitionChannelSize(256),
		goka.WithNilHandling(goka.NilProcess),
		goka.WithStorageBuilder(func(string, int32) (storage.Storage, error) { return t, nil }),
		goka.WithUpdateCallback(func(ctx goka.UpdateContext, _ storage.Storage, key string, value []byte) error {
			return t.fold(key, value, ctx.Offset())
		}),
		goka.WithProducerBuilder(func([]string, string, func() hash.Hash32) (goka.Producer, error) {
			return producer{table: t}, nil
		}),
		goka.WithTopicManagerBuilder(func([]string) (goka.TopicManager, error) { return topicManager{table: t}, nil }),
		goka.WithConsumerSaramaBuilder(func([]string, string) (sarama.Consumer, error) { return consumer{table: t}, nil }),
		goka.WithConsumerGroupBuilder(func([]string, string, string) (sarama.ConsumerGroup, error) { return newSession(t), nil }),
	)
}

// tableSuffix makes a group's table topic the group's own name, once: it is a
// global of goka.
var tableSuffix = sync.OnceFunc(func() { goka.SetTableSuffix("") })

// topicManager answers goka's questions about topics. It creates none. goka does not
// call the other methods.
type topicManager struct {
	goka.TopicManager
	table *table
}

// Partitions lists a topic's partitions.
func (m topicManager) Partitions(topic string) ([]int32, error) {
	ctx, cancel := context.WithTimeout(m.table.life, answerTimeout)
	defer cancel()
	topics, err := m.table.run.admin.ListTopics(ctx, topic)
	if err == nil {
		err = topics[topic].Err
	}
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", topic, err)
	}
	return topics[topic].Partitions.Numbers(), nil
}

// EnsureTableExists is an error if there is no such topic, or one with another
// number of partitions.
func (m topicManager) EnsureTableExists(topic string, partitions int) error {
	have, err := m.Partitions(topic)
	if err == nil && len(have) != partitions {
		err = fmt.Errorf("topic %s has %d partitions, not %d", topic, len(have), partitions)
	}
	return err
}

// GetOffset tells where a ledger begins or ends.
func (m topicManager) GetOffset(topic string, partition int32, at int64) (int64, error) {
	ctx, cancel := context.WithTimeout(m.table.life, answerTimeout)
	defer cancel()
	log, err := boundsOf(ctx, m.table.run.admin, topic, partition)
	if at == sarama.OffsetOldest {
		return log.Start, err
	}
	return log.End, err
}

func (topicManager) Close() error { return nil }

// answerTimeout bounds the answer to a question that a partition waits for.
const answerTimeout = 10 * time.Second

// consumer is the consumer of a goka processor, which recovers its table with it. goka does not
// call the other methods.
type consumer struct {
	sarama.Consumer
	table *table
}

// ConsumePartition reads a ledger, with the records that end transactions.
func (c consumer) ConsumePartition(topic string, partition int32, from int64) (sarama.PartitionConsumer, error) {
	ctx, cancel := context.WithCancel(c.table.life)
	r := &recovery{cancel: cancel, messages: make(chan *sarama.ConsumerMessage, 256), errors: make(chan *sarama.ConsumerError, 1)}
	go func() {
		defer close(r.errors)
		defer close(r.messages)
		err := c.table.run.source(topic, partition).replayAll(ctx, from, math.MaxInt64, func(record *kgo.Record) error {
			pass(ctx, r.messages, record)
			return ctx.Err()
		})
		if ctx.Err() == nil {
			r.errors <- &sarama.ConsumerError{Topic: topic, Partition: partition, Err: err}
			<-ctx.Done() // for goka the end of the messages is the end of the recovery
		}
	}()
	return r, nil
}

// HighWaterMarks are for statistics of goka that nothing reads.
func (consumer) HighWaterMarks() map[string]map[int32]int64 { return nil }
func (consumer) Close() error                               { return nil }

// recovery reads one partition of a ledger until goka has what it needs.
type recovery struct {
	sarama.PartitionConsumer
	cancel   context.CancelFunc
	messages chan *sarama.ConsumerMessage
	errors   chan *sarama.ConsumerError
}

func (r *recovery) Messages() <-chan *sarama.ConsumerMessage { return r.messages }
func (r *recovery) Errors() <-chan *sarama.ConsumerError     { return r.errors }
func (r *recovery) AsyncClose()                              { r.cancel() }
