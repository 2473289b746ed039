package ledger

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// source reads one partition of a ledger, on connections of its own.
type source struct {
	client    []kgo.Opt // that reach the brokers
	topic     string
	partition int32
}

func (s source) connect(opts ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append(append([]kgo.Opt{}, s.client...), opts...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to read %s: %w", s.topic, err)
	}
	return client, nil
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
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return Bounds{}, fmt.Errorf("start of %s: %w", topic, err)
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return Bounds{}, fmt.Errorf("end of %s: %w", topic, err)
	}
	first, ok1 := starts.Lookup(topic, partition)
	last, ok2 := ends.Lookup(topic, partition)
	if !ok1 || !ok2 {
		return Bounds{}, fmt.Errorf("offsets of %s/%d: no such partition", topic, partition)
	}
	return Bounds{Start: first.Offset, End: last.Offset}, errors.Join(first.Err, last.Err)
}

// replay calls fold with the records [from, to), each of which must be there. Those
// that end transactions have no value.
func (s source) replay(ctx context.Context, from, to int64, fold func(key string, raw []byte, offset int64) error) error {
	return s.replayAll(ctx, from, to, func(r *kgo.Record) error {
		if r.Attrs.IsControl() {
			return fold("", nil, r.Offset)
		}
		return fold(string(r.Key), r.Value, r.Offset)
	})
}

// replayAll calls visit with the records [from, to), each of which must be there.
func (s source) replayAll(ctx context.Context, from, to int64, visit func(*kgo.Record) error) error {
	if from >= to {
		return nil
	}
	client, err := s.connect(kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		s.topic: {s.partition: kgo.NewOffset().At(from)},
	}))
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
				return err // trimmed this moment: a fold that went on would be another state
			}
			if err := visit(rec); err != nil {
				return err
			}
			from = rec.Offset + 1
		}
	}
	return nil
}

// sum returns the checksum of the value of the record at offset.
func (s source) sum(ctx context.Context, offset int64) (sum uint32, err error) {
	err = s.replay(ctx, offset, offset+1, func(_ string, raw []byte, _ int64) error {
		sum = checksum(raw)
		return nil
	})
	return sum, err
}

// checksum tells values of records, and files, apart: CRC-32C.
func checksum(raw []byte) uint32 { return crc32.Checksum(raw, castagnoli) }

// ErrTrimmed means that a ledger no longer holds events that recovery, or
// another fold, needs.
var ErrTrimmed = errors.New("ledger is trimmed")

// Reaches returns nil when a partition whose log begins at start holds the
// event at offset from, or may yet; else an error that wraps ErrTrimmed. Folds
// of a whole ledger ask for offset 0.
func Reaches(ledger string, partition int32, start, from int64) error {
	if start <= from {
		return nil
	}
	return fmt.Errorf("%w: %s/%d begins at %d, and %d is needed", ErrTrimmed, ledger, partition, start, from)
}
