package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// claim makes the partition this process's, as Claiming says, and tells session
// where each input goes on. It must follow goka's recovery, and it is not done
// in MarkRecovered, which goka also calls when a rebalance interrupts the
// recovery.
func (t *table) claim(ctx context.Context, session sarama.ConsumerGroupSession) error {
	t.mu.Lock()
	opened := t.Partition != nil
	t.mu.Unlock()
	if !opened {
		return errNotLive // a rebalance came before goka opened it
	}
	log, err := t.run.newLog()
	if err != nil {
		return err
	}
	writer := NewWriter(log, t.run.ledger, t.partition)
	t.mu.Lock()
	t.writer, t.session = writer, session
	claiming := NewClaiming(t.Partition, t.run.opts.Member, t.run.opts.Embedded)
	t.mu.Unlock()
	for {
		t.mu.Lock()
		step, err := claiming.Next()
		t.mu.Unlock()
		if err != nil {
			return t.run.judge(err)
		}
		if step.Kind == Owned {
			return nil
		}
		if err := t.claimStep(ctx, session, claiming, step); err != nil {
			return err
		}
	}
}

// claimStep carries out one step of a claim.
func (t *table) claimStep(ctx context.Context, session sarama.ConsumerGroupSession, claiming *Claiming, step ClaimStep) error {
	switch step.Kind {
	case AppendClaim:
		offset, err := t.writer.Claim(ctx, step.Value)
		if err != nil {
			return err
		}
		claiming.Claimed(offset)
	case FoldTo:
		t.mu.Lock()
		from := t.folded + 1
		t.mu.Unlock()
		if err := t.run.source(t.partition).replay(ctx, from, step.Offset, t.fold); err != nil {
			return err
		}
		if err := t.judge(t.store.settle()); err != nil {
			return err
		}
	case AskBounds:
		log, err := boundsOf(ctx, t.run.admin, step.Topic, t.partition)
		if err != nil {
			return err
		}
		claiming.Bounded(step.Topic, log)
	case AskStamp:
		input := t.run.source(t.partition)
		input.topic = step.Topic
		timestampMS, err := input.timestampMS(ctx, step.Offset)
		if errors.Is(err, kerr.OffsetOutOfRange) {
			// The janitor trimmed it since the log's bounds were asked for: what
			// is committed, that record included, is everybody's to trim.
			log, err := boundsOf(ctx, t.run.admin, step.Topic, t.partition)
			if err != nil {
				return err
			}
			claiming.Bounded(step.Topic, log)
			return nil
		}
		if err != nil {
			return err
		}
		claiming.Stamped(step.Topic, timestampMS)
	case AskCommit:
		next, err := t.committed(ctx, step.Topic)
		if err != nil {
			return err
		}
		claiming.Committed(step.Topic, next)
	case SetInputs:
		t.tellLosses(step.Losses)
		for topic, offset := range step.Next {
			// Both, because a session moves a mark only up and a reset only down.
			session.MarkOffset(topic, t.partition, offset, "")
			session.ResetOffset(topic, t.partition, offset, "")
		}
		t.run.opts.Observe(Happening{Kind: HappenedClaim, Partition: t.partition})
		claiming.InputsSet()
	case AppendReset:
		if err := t.appendReset(ctx, step.Value); err != nil {
			return err
		}
		claiming.ResetAppended()
	}
	return nil
}

func (t *table) tellLosses(losses []Loss) {
	for _, l := range losses {
		message := "input log was cut by an unclean end of its broker"
		if l.Intact < 0 {
			message = "ledger lost its end, and its input was trimmed behind it"
		}
		t.run.log.Warn(message, "topic", l.Topic, "partition", t.partition,
			"position", l.Position, "start", l.Log.Start, "intact", l.Intact, "end", l.Log.End)
	}
}

// appendReset records that positions went back, before anything is decided.
func (t *table) appendReset(ctx context.Context, event []byte) error {
	acked := make(chan error, 1)
	t.writer.Append("", event, func(_ int64, err error) { acked <- err })
	select {
	case err := <-acked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// committed is where the group goes on in an input; 0 before its first commit.
func (t *table) committed(ctx context.Context, topic string) (int64, error) {
	commits, err := t.run.admin.FetchOffsets(ctx, t.run.ledger)
	if err != nil {
		return 0, fmt.Errorf("read commits of %s: %w", t.run.ledger, err)
	}
	commit, _ := commits.Lookup(topic, t.partition)
	return max(commit.At, 0), nil
}

// timestampMS returns the timestamp of the record at offset, which must be in
// the log, in milliseconds since 1970.
func (s source) timestampMS(ctx context.Context, offset int64) (int64, error) {
	client, err := s.connect(kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchMaxPartitionBytes(1),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: {s.partition: kgo.NewOffset().At(offset)}}))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return 0, fmt.Errorf("read %s/%d at %d: %w", s.topic, s.partition, offset, err)
		}
		for it := fetches.RecordIter(); !it.Done(); {
			return it.Next().Timestamp.UnixMilli(), nil
		}
	}
}
