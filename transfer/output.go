package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// output appends records to the topics of a crawl that is being made. Nobody
// else writes to them: a record that is not where it was expected is an error.
type output struct {
	producer appender
	now      time.Time
	ends     map[string]map[int32]int64

	mu  sync.Mutex
	err error // first of a write; never cleared
}

// appender is what an output needs of a kgo.Client.
type appender interface {
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
	Flush(ctx context.Context) error
}

func newOutput(producer appender) *output {
	return &output{producer: producer, now: time.Now(), ends: map[string]map[int32]int64{}}
}

// end is where the next record of a partition will stand.
func (o *output) end(topic string, partition int32) int64 { return o.ends[topic][partition] }

// copyOf appends a record of an export with another value.
func (o *output) copyOf(ctx context.Context, topic string, partition int32, a *weftpb.Archived, value []byte) error {
	r := &kgo.Record{
		Topic: topic, Partition: partition, Key: a.Key, Value: value,
		// Brokers refuse times that lie ahead.
		Timestamp: time.UnixMilli(min(a.TimestampMs, o.now.UnixMilli())),
	}
	for _, h := range a.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
	}
	return o.append(ctx, r)
}

// append appends a record. An error of an earlier one may be returned.
func (o *output) append(ctx context.Context, r *kgo.Record) error {
	o.mu.Lock()
	err := o.err
	o.mu.Unlock()
	if err != nil {
		return err
	}
	if o.ends[r.Topic] == nil {
		o.ends[r.Topic] = map[int32]int64{}
	}
	want := o.ends[r.Topic][r.Partition]
	o.ends[r.Topic][r.Partition]++
	o.producer.Produce(ctx, r, func(r *kgo.Record, err error) {
		switch {
		case err != nil:
			err = fmt.Errorf("write to %s/%d: %w", r.Topic, r.Partition, err)
		case r.Offset != want:
			err = fmt.Errorf("%w: %s/%d, at %d instead of %d", errOthers, r.Topic, r.Partition, r.Offset, want)
		default:
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	})
	return nil
}

// errOthers ends an import into topics that somebody else writes to.
var errOthers = errors.New("somebody else writes to the topics of the import")

// flush waits for everything that was appended.
func (o *output) flush(ctx context.Context) error {
	if err := o.producer.Flush(ctx); err != nil {
		return fmt.Errorf("write the crawl: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
