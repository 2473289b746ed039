package ledger

import (
	"context"
	"fmt"
	"sync"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
	"github.com/lovoo/goka/storage"
	"golang.org/x/sync/errgroup"
)

// gokaOptions wires goka to the ledger: its storage, writer, fold and group.
func (r *runner) gokaOptions() []goka.ProcessorOption {
	topics := goka.NewTopicManagerConfig()
	topics.NoCreate = true
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
		goka.WithTopicManagerBuilder(func(brokers []string) (goka.TopicManager, error) {
			config, err := r.sarama("")
			if err != nil {
				return nil, err
			}
			return goka.NewTopicManager(brokers, config, topics)
		}),
		goka.WithConsumerSaramaBuilder(func(brokers []string, clientID string) (sarama.Consumer, error) {
			config, err := r.sarama(clientID)
			if err != nil {
				return nil, err
			}
			return sarama.NewConsumer(brokers, config)
		}),
		goka.WithConsumerGroupBuilder(func(brokers []string, name, clientID string) (sarama.ConsumerGroup, error) {
			config, err := r.sarama(clientID)
			if err != nil {
				return nil, err
			}
			inner, err := sarama.NewConsumerGroup(brokers, name, config)
			if err != nil {
				return nil, fmt.Errorf("join group %s: %w", name, err)
			}
			return &group{ConsumerGroup: inner, run: r}, nil
		}),
	}
}

// sarama returns the configuration of one of goka's clients; clientID may be
// empty.
func (r *runner) sarama(clientID string) (*sarama.Config, error) {
	config := goka.DefaultConfig()
	if clientID != "" {
		config.ClientID = clientID
	}
	config.Version = sarama.V2_8_0_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.ResetInvalidOffsets = false
	config.Consumer.Group.Session.Timeout = r.opts.SessionTimeout
	config.Consumer.Group.Heartbeat.Interval = r.opts.Heartbeat
	// By default a member that meets another rebalance, or a coordinator that
	// moved, waits two seconds, and all others for it.
	config.Consumer.Group.Rebalance.Retry.Backoff = r.opts.Heartbeat
	config.Consumer.Group.Rebalance.Retry.Max = int(r.opts.SessionTimeout / r.opts.Heartbeat)
	config.Consumer.Group.Rebalance.Strategy = nil // goka's own, which would win over the next line
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{Rendezvous{}}
	config.Consumer.Group.Member.UserData = []byte(r.opts.Member)
	config.Consumer.Offsets.AutoCommit.Interval = r.opts.CarryIdle
	// A fetch that waits for records holds up the commits and heartbeats behind it
	// on its connection.
	config.Consumer.MaxWaitTime = r.opts.CarryIdle
	return config, r.opts.Cluster.Configure(config)
}

// group is sarama's consumer group, taught that the ledger knows better:
// partitions are claimed and inputs set to the ledger's positions at Setup,
// goka's marks are dropped, and a rebalance joins again at once instead of
// returning to goka, which would sleep five seconds.
type group struct {
	sarama.ConsumerGroup
	run *runner
}

// Consume consumes until ctx ends or a session fails.
func (g *group) Consume(ctx context.Context, topics []string, handler sarama.ConsumerGroupHandler) error {
	for ctx.Err() == nil {
		if err := g.ConsumerGroup.Consume(ctx, topics, &claimer{handler, g.run}); err != nil {
			return err
		}
	}
	return nil
}

// claimer wraps goka's handler of a session.
type claimer struct {
	sarama.ConsumerGroupHandler
	run *runner
}

// Setup lets goka recover the tables, then claims them.
func (c *claimer) Setup(session sarama.ConsumerGroupSession) error {
	if err := c.ConsumerGroupHandler.Setup(unmarked{session}); err != nil {
		return err
	}
	if session.Context().Err() != nil {
		return nil // a rebalance interrupted the recovery; Cleanup closes what was opened
	}
	claims, ctx := errgroup.WithContext(session.Context())
	c.run.mu.Lock()
	tables := make([]*table, 0, len(c.run.tables))
	for _, t := range c.run.tables {
		tables = append(tables, t)
	}
	c.run.mu.Unlock()
	for _, t := range tables {
		claims.Go(func() error { return t.claim(ctx, session) })
	}
	err := claims.Wait()
	if session.Context().Err() != nil {
		return nil // a rebalance came first
	}
	return err
}

// Cleanup lets goka close the tables.
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
