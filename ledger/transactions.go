package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What ends a transaction is a record of the log, a control record, and goka and
// sarama are not given it. Weft writes none of its own topics in transactions;
// other programs may. A recovery that waits for the last record of a ledger, and
// timers that wait for the last record of an input, would wait for ever.

// lastGiven returns the end of a log without the control records that it ends
// with.
func (s source) lastGiven(ctx context.Context, log Bounds) (end int64, err error) {
	for end = log.End; end > log.Start; end-- {
		control := false
		err := s.replayAll(ctx, end-1, end, func(r *kgo.Record) error {
			control = r.Attrs.IsControl()
			return nil
		})
		switch {
		case errors.Is(err, kerr.OffsetOutOfRange) || errors.Is(err, ErrTrimmed):
			return end, nil // trimmed this moment
		case err != nil:
			return 0, err
		case !control:
			return end, nil
		}
	}
	return end, nil
}

// GetOffset tells goka that a ledger ends behind the last record that goka is
// given. Recovery ends when it has seen the record before.
func (m topicManager) GetOffset(topic string, partition int32, at int64) (int64, error) {
	offset, err := m.client.GetOffset(topic, partition, at)
	if err != nil || at != sarama.OffsetNewest {
		return offset, err
	}
	start, err := m.client.GetOffset(topic, partition, sarama.OffsetOldest)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	log := m.run.source(partition)
	log.topic = topic
	return log.lastGiven(ctx, Bounds{Start: start, End: offset})
}

// foldGap folds what goka's recovery was not given before offset: control records.
// Anything else that is missing is ErrTrimmed.
func (t *table) foldGap(offset int64) error {
	t.mu.Lock()
	from := t.folded + 1
	t.mu.Unlock()
	if from >= offset {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := t.run.source(t.partition).replay(ctx, from, offset, func(key string, raw []byte, at int64) error {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.Fold(key, raw, at)
	})
	if errors.Is(err, kerr.OffsetOutOfRange) {
		err = Reaches(t.run.ledger, t.partition, offset, from)
	}
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.judge(fmt.Errorf("fold up to %d: %w", offset, err))
}
