package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// ErrInputLost means that an input topic no longer holds what the ledger says
// comes next: it was trimmed too far, or it is not the topic it was.
var ErrInputLost = errors.New("input does not hold the ledger's position")

// claim makes the partition this process's: it appends a claim, folds what
// lies between the recovery and the claim, and tells session where each input
// goes on. It must follow goka's recovery, and it is not done in MarkRecovered,
// which goka also calls when a rebalance interrupts the recovery.
func (t *table) claim(ctx context.Context, session sarama.ConsumerGroupSession) error {
	log, err := t.run.newLog()
	if err != nil {
		return err
	}
	writer := NewWriter(log, t.run.ledger, t.partition)
	t.mu.Lock()
	t.writer, t.session = writer, session
	from := t.folded + 1
	t.mu.Unlock()

	offset, err := writer.Claim(ctx, encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: t.run.opts.Member}}))
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
	if len(reset) > 0 {
		if err := t.appendReset(ctx, reset); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live = true
	return nil
}

// resume sets every input of session to what follows the ledger's position.
// It returns the positions that lie beyond the end of an embedded broker's log.
func (t *table) resume(ctx context.Context, session sarama.ConsumerGroupSession) ([]*weftpb.Position, error) {
	var reset []*weftpb.Position
	for _, in := range t.run.inputs {
		start, end, err := t.run.offsets(ctx, in.topic, t.partition)
		if err != nil {
			return nil, err
		}
		next := start
		t.mu.Lock()
		at, known := t.positions[in.topic]
		t.mu.Unlock()
		if known {
			next = at.Offset + 1
		}
		switch {
		case next < start, next > end && !t.run.opts.Embedded:
			return nil, t.run.fatal(fmt.Errorf("%w: %s/%d holds %d to %d, %s goes on at %d",
				ErrInputLost, in.topic, t.partition, start, end, t.run.ledger, next))
		case next > end:
			next = end
			reset = append(reset, &weftpb.Position{Topic: in.topic, Offset: end - 1, Epoch: at.Epoch})
		}
		// Both, because a session moves a mark only up and a reset only down.
		session.MarkOffset(in.topic, t.partition, next, "")
		session.ResetOffset(in.topic, t.partition, next, "")
	}
	return reset, nil
}

// appendReset records that positions went back, before anything is decided.
func (t *table) appendReset(ctx context.Context, positions []*weftpb.Position) error {
	t.mu.Lock()
	for _, p := range positions {
		t.positions[p.Topic] = Position{Offset: p.Offset, Epoch: p.Epoch}
	}
	t.folded++
	value := encode(&weftpb.Event{Epoch: t.reader.Epoch, Offset: t.folded, Positions: positions, Reset_: true})
	t.mu.Unlock()
	t.run.log.Warn("input log was cut by an unclean end; going on at its end", "partition", t.partition,
		"inputs", slices.Collect(topicsOf(positions)))
	acked := make(chan error, 1)
	t.writer.Append("", value, func(_ int64, err error) { acked <- err })
	select {
	case err := <-acked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func topicsOf(positions []*weftpb.Position) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, p := range positions {
			if !yield(p.Topic) {
				return
			}
		}
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
