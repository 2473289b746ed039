package drain

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/replay"
)

// tail is what the events of a partition of scheduled say up to end.
type tail struct {
	end int64
	replay.Last
	// damaged says why the log cannot be read; nil: it can.
	damaged error
}

// readTails reads the ends of all partitions. What has not grown since the last
// time is not read again; the others are read some at a time, since each takes the
// time of a request.
func (r *Reader) readTails(ctx context.Context, starts, ends map[int32]int64, reading *Reading) error {
	var mu sync.Mutex // of r.tails
	asking, askCtx := errgroup.WithContext(ctx)
	asking.SetLimit(tailsAtOnce)
	for p, end := range ends {
		mu.Lock()
		t, ok := r.tails[p]
		mu.Unlock()
		if ok && t.end == end {
			continue
		}
		asking.Go(func() error {
			last, err := replay.ReadLast(replay.Bounds{Start: starts[p], End: end}, func(within replay.Bounds, visit func(*kgo.Record) error) error {
				return r.scan(askCtx, r.names.Scheduled, p, within, visit)
			})
			t := tail{end: end, Last: last}
			if errors.Is(err, ledger.ErrCorrupt) {
				t.damaged, err = err, nil
			}
			if err != nil {
				return fmt.Errorf("partition %d: %w", p, err)
			}
			mu.Lock()
			defer mu.Unlock()
			r.tails[p] = t
			return nil
		})
	}
	if err := asking.Wait(); err != nil {
		return err
	}
	for p := range ends {
		t := r.tails[p]
		reading.Gauges = append(reading.Gauges, t.Decision.GetGauges())
		reading.Strangers += t.Strangers
		if t.damaged != nil {
			reading.Damaged = append(reading.Damaged, t.damaged)
		}
	}
	return nil
}

// tailsAtOnce bounds how many partitions are read at the same time.
const tailsAtOnce = 16

// scan calls visit with the records of a partition within bounds, in order, those
// that end transactions among them.
func (r *Reader) scan(ctx context.Context, topic string, p int32, within replay.Bounds, visit func(*kgo.Record) error) error {
	for at := within.Start; at < within.End; {
		records, err := r.fetch(ctx, topic, p, at)
		if err != nil {
			return err
		}
		for _, record := range records {
			if at = record.Offset + 1; at > within.End {
				break // written after the ends were read
			}
			if err := visit(record); err != nil {
				return err
			}
		}
	}
	return nil
}

// fetchBytes is more than the largest batch that scheduled takes. A larger one
// comes whole.
const fetchBytes = 2 << 20

// fetch reads records of a partition from an offset on which there is one. A
// request of its own is less work than a consumer, which would follow the
// frontier through all that it writes.
func (r *Reader) fetch(ctx context.Context, topic string, p int32, offset int64) ([]*kgo.Record, error) {
	details, err := r.admin.ListTopics(ctx, topic) // cached
	if err != nil {
		return nil, err
	}
	detail := details[topic]

	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = p, offset, fetchBytes
	wanted := kmsg.NewFetchRequestTopic()
	wanted.Topic, wanted.TopicID = topic, detail.ID
	wanted.Partitions = append(wanted.Partitions, part)
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MinBytes, req.MaxWaitMillis = fetchBytes, 1, 1000
	req.Topics = append(req.Topics, wanted)

	response, err := r.client.Broker(int(detail.Partitions[p].Leader)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := response.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("fetch at %d: the answer is for other partitions", offset)
	}
	fetched, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: offset, Topic: topic, Partition: p, KeepControlRecords: true,
	}, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	if fetched.Err != nil {
		return nil, fmt.Errorf("fetch at %d: %w", offset, fetched.Err)
	}
	if len(fetched.Records) == 0 {
		return nil, fmt.Errorf("fetch at %d: nothing came", offset)
	}
	return fetched.Records, nil
}
