package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// output appends records to the topics of the new crawl, by their short names. It is their
// only writer: a record at another offset than expected is an error.
type output struct {
	names    topics.Names
	producer appender
	now      time.Time
	ends     map[string]map[int32]int64 // offsets of the next records
	err      atomic.Pointer[error]      // first of a write
}

// appender is the part of kgo.Client that output uses.
type appender interface {
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
	Flush(ctx context.Context) error
}

func newOutput(names topics.Names, producer appender) *output {
	return &output{names: names, producer: producer, now: time.Now(), ends: map[string]map[int32]int64{}}
}

// copyOf appends a record of an export with another value. It may return the error of an
// earlier one.
func (o *output) copyOf(ctx context.Context, topic string, partition int32, a *weftpb.Archived, value []byte) error {
	if err := o.err.Load(); err != nil {
		return *err
	}
	r := &kgo.Record{
		Topic: fullName(o.names, topic), Partition: partition, Key: a.Key, Value: value,
		// Brokers refuse times in the future.
		Timestamp: time.UnixMilli(min(a.TimestampMs, o.now.UnixMilli())),
	}
	for _, h := range a.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
	}
	if o.ends[topic] == nil {
		o.ends[topic] = map[int32]int64{}
	}
	want := o.ends[topic][partition]
	o.ends[topic][partition]++
	o.producer.Produce(ctx, r, func(r *kgo.Record, err error) {
		switch {
		case err != nil:
			err = fmt.Errorf("write to %s/%d: %w", r.Topic, r.Partition, err)
		case r.Offset != want:
			err = fmt.Errorf("%w: %s/%d, at %d instead of %d", errOthers, r.Topic, r.Partition, r.Offset, want)
		default:
			return
		}
		o.err.CompareAndSwap(nil, &err)
	})
	return nil
}

// errOthers ends an import into topics with another writer.
var errOthers = errors.New("another program writes to the topics of the import")

// flush waits for everything that was appended.
func (o *output) flush(ctx context.Context) error {
	if err := o.producer.Flush(ctx); err != nil {
		return fmt.Errorf("write the crawl: %w", err)
	}
	if err := o.err.Load(); err != nil {
		return *err
	}
	return nil
}
