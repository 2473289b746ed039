package ledger

import (
	"context"

	"github.com/IBM/sarama"
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
	if err := t.run.source(t.partition).replay(ctx, from, offset+1, t.fold); err != nil {
		return err
	}
	reset, err := t.resume(ctx, session)
	if err != nil {
		return err
	}
	t.run.opts.Observe(Happening{Kind: HappenedClaim, Partition: t.partition})
	if reset != nil {
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
	for _, topic := range append(t.run.Inputs(), t.run.ledger) {
		log, err := boundsOf(ctx, t.run.admin, topic, t.partition)
		if err != nil {
			return nil, err
		}
		bounds[topic] = log
	}
	if err := t.findCuts(ctx, bounds); err != nil {
		return nil, err
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
