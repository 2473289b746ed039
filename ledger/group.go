package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
	"github.com/lovoo/goka/storage"
)

// gokaOptions wires goka's processor of one partition to the ledger: its
// storage, writer, fold and group.
func (r *runner) gokaOptions(of *membership, partition int32) []goka.ProcessorOption {
	return []goka.ProcessorOption{
		goka.WithClientID("weft-" + r.ledger),
		goka.WithLogger(logger{r.log}),
		goka.WithPartitionChannelSize(256),
		goka.WithNilHandling(goka.NilProcess),
		goka.WithStorageBuilder(r.newTable),
		goka.WithUpdateCallback(func(ctx goka.UpdateContext, _ storage.Storage, key string, value []byte) error {
			return r.table(ctx.Partition()).fold(key, value, ctx.Offset())
		}),
		goka.WithProducerBuilder(func([]string, string, func() hasher) (goka.Producer, error) {
			return router{r}, nil
		}),
		goka.WithTopicManagerBuilder(func([]string) (goka.TopicManager, error) {
			return topicManager{r.topics, r}, nil
		}),
		goka.WithConsumerSaramaBuilder(func([]string, string) (sarama.Consumer, error) {
			return sharedConsumer{r.recoverFrom}, nil
		}),
		goka.WithConsumerGroupBuilder(func([]string, string, string) (sarama.ConsumerGroup, error) {
			return &solo{r, of, partition}, nil
		}),
	}
}

// connect makes what the processors of all partitions share of goka's and
// sarama's clients. Recoveries read by a consumer of their own: sarama's waits
// for the slowest of its partitions.
func (r *runner) connect() (err error) {
	config, err := r.sarama()
	if err != nil {
		return err
	}
	r.dialer = newDialer(config)
	brokers := r.opts.Cluster.Brokers
	if r.topics, err = sarama.NewClient(brokers, config); err != nil {
		return fmt.Errorf("connect to %v: %w", brokers, err)
	}
	if r.recoverFrom, err = sarama.NewConsumer(brokers, config); err != nil {
		return fmt.Errorf("connect to %v: %w", brokers, err)
	}
	if r.inputsFrom, err = sarama.NewConsumer(brokers, config); err != nil {
		return fmt.Errorf("connect to %v: %w", brokers, err)
	}
	return nil
}

// disconnect closes what connect made.
func (r *runner) disconnect() error {
	var errs []error
	if r.dialer != nil {
		r.dialer.close()
	}
	for _, c := range []sarama.Consumer{r.recoverFrom, r.inputsFrom} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	if r.topics != nil {
		errs = append(errs, r.topics.Close())
	}
	return errors.Join(errs...)
}

// sharedConsumer is not a processor's to close.
type sharedConsumer struct{ sarama.Consumer }

func (sharedConsumer) Close() error { return nil }

// sarama returns the configuration of goka's and our clients.
func (r *runner) sarama() (*sarama.Config, error) {
	config := goka.DefaultConfig()
	config.ClientID = "weft-" + r.ledger
	config.Version = sarama.V2_8_0_0
	config.Consumer.Return.Errors = true
	// A fetch that waits for records holds up what is asked behind it on its
	// connection.
	config.Consumer.MaxWaitTime = r.opts.CarryIdle
	return config, r.opts.Cluster.Configure(config)
}

// claimer wraps goka's handler of a session, taught that the ledger knows
// better: the partition is claimed and its inputs set to the ledger's positions
// at Setup, and goka's marks are dropped.
type claimer struct {
	sarama.ConsumerGroupHandler
	run       *runner
	partition int32
}

// Setup lets goka recover the table, then claims it.
func (c *claimer) Setup(session sarama.ConsumerGroupSession) error {
	if err := c.ConsumerGroupHandler.Setup(unmarked{session}); err != nil {
		return err
	}
	if session.Context().Err() != nil {
		return nil // the partition was lost during the recovery; Cleanup closes what was opened
	}
	t := c.run.table(c.partition)
	if t == nil {
		return errNotLive
	}
	err := t.claim(session.Context(), session)
	if session.Context().Err() != nil {
		return nil // it was lost first
	}
	return err
}

// Cleanup lets goka close the table.
func (c *claimer) Cleanup(session sarama.ConsumerGroupSession) error {
	return c.ConsumerGroupHandler.Cleanup(unmarked{session})
}

// ConsumeClaim passes a claim's messages to goka while the stage is not held,
// those of a partition's first input with its ticks between them.
func (c *claimer) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	table := c.run.table(claim.Partition())
	if table == nil {
		return c.ConsumerGroupHandler.ConsumeClaim(unmarked{session}, claim)
	}
	ctx, cancel := context.WithCancel(session.Context())
	ticked := newTicks(claim, table, claim.Topic() == c.run.inputs[0].topic)
	var merging sync.WaitGroup
	merging.Go(func() { ticked.merge(ctx) })
	defer merging.Wait()
	defer cancel()
	return c.ConsumerGroupHandler.ConsumeClaim(unmarked{session}, ticked)
}

// unmarked is a session that ignores marks: a mark of goka skips an earlier
// input whose event failed.
type unmarked struct{ sarama.ConsumerGroupSession }

func (unmarked) MarkOffset(string, int32, int64, string)     {}
func (unmarked) MarkMessage(*sarama.ConsumerMessage, string) {}
