package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/IBM/sarama"
	"golang.org/x/sync/errgroup"
)

// solo is the consumer group that goka sees: the processor of one partition is
// alone in it. The real one is the membership's.
type solo struct {
	run       *runner
	of        *membership
	partition int32
}

// Consume runs a session, which ends with ctx, or when the partition's processor
// or an input fails.
func (g *solo) Consume(ctx context.Context, topics []string, handler sarama.ConsumerGroupHandler) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s := &session{solo: g, ctx: ctx, topics: topics, next: map[string]int64{}}
	c := &claimer{handler, g.run, g.partition}
	if err := c.Setup(s); err != nil {
		return errors.Join(err, c.Cleanup(s))
	}
	var reading errgroup.Group
	for _, topic := range topics {
		reading.Go(func() error {
			defer end() // the other inputs too
			return s.read(topic, c)
		})
	}
	err := errors.Join(reading.Wait(), c.Cleanup(s))
	if err == nil && ctx.Err() == nil {
		err = errors.New("an input ended")
	}
	return err
}

// Close has nothing to close.
func (g *solo) Close() error { return nil }

// Errors never tells of any: Consume returns them.
func (g *solo) Errors() <-chan error { return nil }

// Pausing is not goka's business here.

func (g *solo) Pause(map[string][]int32)  {}
func (g *solo) Resume(map[string][]int32) {}
func (g *solo) PauseAll()                 {}
func (g *solo) ResumeAll()                {}

// session is the session of a partition's processor.
type session struct {
	*solo
	ctx    context.Context
	topics []string

	mu   sync.Mutex
	next map[string]int64 // where each input goes on
}

// Claims are the partition in all inputs.
func (s *session) Claims() map[string][]int32 {
	claims := map[string][]int32{}
	for _, topic := range s.topics {
		claims[topic] = []int32{s.partition}
	}
	return claims
}

func (s *session) MemberID() string         { id, _ := s.of.client.GroupMetadata(); return id }
func (s *session) GenerationID() int32      { _, n := s.of.client.GroupMetadata(); return n }
func (s *session) Context() context.Context { return s.ctx }

// MarkOffset has the group told that an input goes on at offset.
func (s *session) MarkOffset(topic string, partition int32, offset int64, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next[topic] = offset
	s.of.commits.mark(topic, partition, offset)
}

// ResetOffset does the same.
func (s *session) ResetOffset(topic string, partition int32, offset int64, metadata string) {
	s.MarkOffset(topic, partition, offset, metadata)
}

// MarkMessage and Commit are not called: see unmarked.

func (s *session) MarkMessage(*sarama.ConsumerMessage, string) {}
func (s *session) Commit()                                     {}

// read passes an input on to goka until the session ends.
func (s *session) read(topic string, c *claimer) error {
	s.mu.Lock()
	from := s.next[topic]
	s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil
	}
	consumer, err := s.run.inputsFrom.ConsumePartition(topic, s.partition, from)
	if err != nil {
		return fmt.Errorf("read %s/%d at %d: %w", topic, s.partition, from, err)
	}
	var last error // why it cannot be read
	var draining sync.WaitGroup
	draining.Go(func() {
		for err := range consumer.Errors() {
			last = err
			logger{s.run.log}.Printf("read input: %v", err)
		}
	})
	stop := context.AfterFunc(s.ctx, consumer.AsyncClose)
	err = c.ConsumeClaim(s, &inputClaim{consumer, topic, s.partition, from})
	if stop() {
		consumer.AsyncClose()
	}
	for range consumer.Messages() {
	}
	draining.Wait()
	if err == nil && s.ctx.Err() == nil {
		err = last
	}
	return err
}

// inputClaim is the claim of a partition of an input, in sarama's words.
type inputClaim struct {
	sarama.PartitionConsumer
	topic     string
	partition int32
	from      int64
}

func (i *inputClaim) Topic() string        { return i.topic }
func (i *inputClaim) Partition() int32     { return i.partition }
func (i *inputClaim) InitialOffset() int64 { return i.from }
