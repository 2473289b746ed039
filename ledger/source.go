package ledger

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
)

// source reads one partition of a ledger, on connections of its own.
type source struct {
	client    []kgo.Opt // that reach the brokers
	topic     string
	partition int32
}

func (s source) connect(opts ...kgo.Opt) (*kgo.Client, error) {
	return kafka.NewClient(slices.Concat(s.client, opts)...)
}

// bounds returns the first offset and the end of the log.
func (s source) bounds(ctx context.Context) (Bounds, error) {
	client, err := s.connect()
	if err != nil {
		return Bounds{}, err
	}
	defer client.Close()
	return boundsOf(ctx, kadm.NewClient(client), s.topic, s.partition)
}

func boundsOf(ctx context.Context, admin *kadm.Client, topic string, partition int32) (Bounds, error) {
	bounds, err := kafka.BoundsOf(ctx, admin, topic, partition)
	return bounds[partition], err
}

// replay calls fold with the records [from, to). All of them must be there. A record that ends
// a transaction has no value.
func (s source) replay(ctx context.Context, from, to int64, fold func(key string, raw []byte, offset int64) error) error {
	return s.replayAll(ctx, from, to, func(r *kgo.Record) error {
		if r.Attrs.IsControl() {
			return fold("", nil, r.Offset)
		}
		return fold(string(r.Key), r.Value, r.Offset)
	})
}

// replayAll calls visit with the records [from, to). All of them must be there.
func (s source) replayAll(ctx context.Context, from, to int64, visit func(*kgo.Record) error, how ...kgo.Opt) error {
	if from >= to {
		return nil
	}
	client, err := s.connect(append(how, kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: {s.partition: kgo.NewOffset().At(from)}}))...)
	if err != nil {
		return err
	}
	defer client.Close()
	for from < to {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return fmt.Errorf("replay %s/%d at %d: %w", s.topic, s.partition, from, err)
		}
		for it := fetches.RecordIter(); !it.Done() && from < to; {
			rec := it.Next()
			if err := Reaches(s.topic, s.partition, rec.Offset, from); err != nil {
				return err // the log was trimmed at this moment
			}
			if err := visit(rec); err != nil {
				return err
			}
			from = rec.Offset + 1
		}
	}
	return nil
}

// record returns the record at offset, which may be one that ends a transaction.
func (s source) record(ctx context.Context, offset int64) (found *kgo.Record, err error) {
	err = s.replayAll(ctx, offset, offset+1, func(r *kgo.Record) error {
		found = r
		return nil
	}, kgo.FetchMaxPartitionBytes(1)) // a batch is given whole
	return found, err
}

// lastGiven returns the end of a log without the control records at its end. A
// transaction ends with such a record, which the stage is not given. Weft writes
// without transactions, but other programs may write to its topics with them, and
// timers that wait for the last record of an input would wait for ever.
func (s source) lastGiven(ctx context.Context, log Bounds) (end int64, err error) {
	for end = log.End; end > log.Start; end-- {
		last, err := s.record(ctx, end-1)
		switch {
		case errors.Is(err, kerr.OffsetOutOfRange) || errors.Is(err, ErrTrimmed):
			return end, nil // it was trimmed at this moment
		case err != nil:
			return 0, err
		case !last.Attrs.IsControl():
			return end, nil
		}
	}
	return end, nil
}

// checksum is the CRC-32C of a record's value or of a file.
func checksum(raw []byte) uint32 { return crc32.Checksum(raw, castagnoli) }

// ErrTrimmed means that a ledger no longer holds events that a recovery, or another
// fold, needs.
var ErrTrimmed = errors.New("ledger is trimmed")

// Reaches returns an error that wraps ErrTrimmed when a partition whose log begins at
// start does not hold the event at offset from any more. Folds of a whole ledger ask
// for offset 0.
func Reaches(ledger string, partition int32, start, from int64) error {
	if start <= from {
		return nil
	}
	return fmt.Errorf("%w: %s/%d begins at %d, and %d is needed", ErrTrimmed, ledger, partition, start, from)
}
