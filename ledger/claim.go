package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
)

// claim makes the partition this process's: it appends a claim, folds what
// lies between the recovery and the claim, and tells session where each input
// goes on. It must follow goka's recovery, and it is not done in MarkRecovered,
// which goka also calls when a rebalance interrupts the recovery.
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
	from := t.folded + 1
	t.mu.Unlock()

	offset, err := writer.Claim(ctx, ClaimOf(t.run.opts.Member))
	if err != nil {
		return err
	}
	if err := t.run.replay(ctx, t.partition, from, offset+1, t.fold); err != nil {
		return err
	}
	reset, err := t.resume(ctx, session)
	if err != nil {
		return err
	}
	t.run.opts.Observe(Happening{Kind: HappenedClaim, Partition: t.partition})
	if reset != nil {
		t.run.log.Warn("input log was cut by an unclean end; going on at its end", "partition", t.partition)
		if err := t.appendReset(ctx, reset); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Live()
	return nil
}

// resume sets every input of session to what follows the ledger's position. It
// returns the event that sets positions back, if any.
func (t *table) resume(ctx context.Context, session sarama.ConsumerGroupSession) ([]byte, error) {
	bounds := map[string]Bounds{}
	for _, topic := range t.run.Inputs() {
		start, end, err := t.run.offsets(ctx, topic, t.partition)
		if err != nil {
			return nil, err
		}
		bounds[topic] = Bounds{start, end}
	}
	t.mu.Lock()
	next, reset, err := t.Resume(bounds, t.run.opts.Embedded)
	t.mu.Unlock()
	if err != nil {
		return nil, t.run.judge(err)
	}
	for topic, offset := range next {
		// Both, because a session moves a mark only up and a reset only down.
		session.MarkOffset(topic, t.partition, offset, "")
		session.ResetOffset(topic, t.partition, offset, "")
	}
	return reset, nil
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

// replay calls fold with the records [from, to) of the ledger's partition.
func (r *runner) replay(ctx context.Context, partition int32, from, to int64, fold func(key string, raw []byte, offset int64) error) error {
	if from >= to {
		return nil
	}
	client, err := r.client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		r.ledger: {partition: kgo.NewOffset().At(from)},
	}))
	if err != nil {
		return err
	}
	defer client.Close()
	for from < to {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return fmt.Errorf("replay %s/%d at %d: %w", r.ledger, partition, from, err)
		}
		for it := fetches.RecordIter(); !it.Done() && from < to; {
			rec := it.Next()
			if err := fold(string(rec.Key), rec.Value, rec.Offset); err != nil {
				return err
			}
			from = rec.Offset + 1
		}
	}
	return nil
}
