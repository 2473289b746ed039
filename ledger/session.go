package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// session is what goka sees of the consumer group: a group whose only member is the
// processor of one partition, that member's only session, and one claim, which has
// the records of all inputs. The real group is the membership's.
type session struct {
	// goka does not call the other methods of these.
	sarama.ConsumerGroup
	sarama.ConsumerGroupSession
	sarama.ConsumerGroupClaim

	table    *table
	ctx      context.Context
	records  chan *sarama.ConsumerMessage // of the inputs
	messages chan *sarama.ConsumerMessage // records and ticks
}

func newSession(t *table) *session {
	return &session{table: t, records: make(chan *sarama.ConsumerMessage), messages: make(chan *sarama.ConsumerMessage)}
}

// Consume runs the session, which ends with ctx, or when the partition's processor
// or an input fails.
func (s *session) Consume(ctx context.Context, _ []string, goka sarama.ConsumerGroupHandler) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.ctx = ctx
	err := s.begin(goka)
	if err == nil && ctx.Err() == nil {
		var work errgroup.Group
		work.Go(func() error {
			defer end()
			return s.read()
		})
		work.Go(func() error {
			defer end()
			return goka.ConsumeClaim(s, s)
		})
		s.merge()
		err = work.Wait()
	}
	return errors.Join(err, goka.Cleanup(s)) // which closes the table
}

// begin lets goka recover the table, then claims it. If the partition is lost
// meanwhile, goka's Cleanup closes what was opened.
func (s *session) begin(goka sarama.ConsumerGroupHandler) error {
	err := goka.Setup(s)
	if err == nil && s.ctx.Err() == nil {
		if err = s.table.claim(s.ctx); s.ctx.Err() != nil {
			err = nil
		}
	}
	return err
}

// Claims are the partition in all inputs.
func (s *session) Claims() map[string][]int32 {
	claims := map[string][]int32{}
	for _, in := range s.table.run.Inputs {
		claims[in.Topic] = []int32{s.table.partition}
	}
	return claims
}

func (s *session) GenerationID() int32      { _, n := s.table.member.client.GroupMetadata(); return n }
func (s *session) Context() context.Context { return s.ctx }

// MarkOffset drops the marks that goka makes, because the ledger says where inputs go
// on: goka marks an input although the event of an earlier one failed.
func (s *session) MarkOffset(string, int32, int64, string) {}

// Errors returns no channel, because Consume returns the errors.
func (s *session) Errors() <-chan error { return nil }
func (s *session) Close() error         { return nil }

// Topic is the topic of ticks.
func (s *session) Topic() string                            { return s.table.run.Inputs[0].Topic }
func (s *session) Partition() int32                         { return s.table.partition }
func (s *session) InitialOffset() int64                     { return s.table.next[s.Topic()] }
func (s *session) Messages() <-chan *sarama.ConsumerMessage { return s.messages }

// read passes the records of the inputs on until the session ends or an input cannot
// be read. An input that this process has no right to read may be permitted later.
func (s *session) read() error {
	from := map[string]map[int32]kgo.Offset{}
	for topic, next := range s.table.next {
		from[topic] = map[int32]kgo.Offset{s.table.partition: kgo.NewOffset().At(next)}
	}
	s.table.client.AddConsumePartitions(from)
	for {
		fetches := s.table.client.PollFetches(s.ctx)
		if s.ctx.Err() != nil {
			return nil
		}
		for _, failed := range fetches.Errors() {
			if !errors.Is(failed.Err, kerr.TopicAuthorizationFailed) {
				return fmt.Errorf("read %s/%d: %w", failed.Topic, failed.Partition, failed.Err)
			}
			s.table.run.log.Warn("this process may not read an input", "topic", failed.Topic, "partition", failed.Partition, "error", failed.Err)
			select {
			case <-s.ctx.Done():
			case <-time.After(unreadablePause):
			}
		}
		// A record of each input in turn: an input with a long backlog does not hold up the others.
		for i, more := 0, true; more; i++ {
			more = false
			fetches.EachPartition(func(p kgo.FetchTopicPartition) {
				if i < len(p.Records) {
					more = pass(s.ctx, s.records, p.Records[i])
				}
			})
		}
	}
}

// unreadablePause is the time until an input is tried again that this process has no right to read.
const unreadablePause = 2 * time.Second

// pass passes a record on as goka takes it, and tells whether that was before ctx ended.
// A record that ends a transaction has no value.
func pass(ctx context.Context, to chan<- *sarama.ConsumerMessage, r *kgo.Record) bool {
	msg := &sarama.ConsumerMessage{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value, Timestamp: r.Timestamp,
	}
	if r.Attrs.IsControl() {
		msg.Key, msg.Value = nil, nil
	}
	select {
	case to <- msg:
		return true
	case <-ctx.Done():
		return false
	}
}
