package drain

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/replay"
)

// tail is what the events of a partition of scheduled say up to end.
type tail struct {
	end int64
	// gauges of the last valid event before end; nil: there is none.
	gauges *weftpb.Gauges
}

// readTails returns the gauges of all partitions. What has not grown since the
// last time is not read again.
func (r *Reader) readTails(ctx context.Context, starts, ends map[int32]int64) ([]*weftpb.Gauges, error) {
	gauges := make([]*weftpb.Gauges, 0, len(ends))
	for p, end := range ends {
		t, ok := r.tails[p]
		if !ok || t.end != end {
			last, err := replay.LastDecision(replay.Bounds{Start: starts[p], End: end}, func(within replay.Bounds, visit func(*kgo.Record) error) error {
				return r.scan(ctx, p, within, visit)
			})
			if err != nil {
				return nil, fmt.Errorf("partition %d: %w", p, err)
			}
			t = tail{end, last.GetGauges()}
			r.tails[p] = t
		}
		gauges = append(gauges, t.gauges)
	}
	return gauges, nil
}

// scan calls visit with the records of a partition within bounds, in order.
func (r *Reader) scan(ctx context.Context, p int32, within replay.Bounds, visit func(*kgo.Record) error) error {
	for at := within.Start; at < within.End; {
		records, err := r.fetch(ctx, p, at)
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

// fetchBytes holds the largest batch that scheduled takes.
const fetchBytes = 2 << 20

// fetch reads records of a partition from an offset on which there is one. A
// request of its own is less work than a consumer, which would follow the
// frontier through all that it writes.
func (r *Reader) fetch(ctx context.Context, p int32, offset int64) ([]*kgo.Record, error) {
	topic := r.names.Scheduled
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
		Offset: offset, Topic: topic, Partition: p,
	}, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	if fetched.Err != nil {
		return nil, fmt.Errorf("fetch at %d: %w", offset, fetched.Err)
	}
	if len(fetched.Records) == 0 {
		return nil, fmt.Errorf("fetch at %d: nothing came", offset)
	}
	return fetched.Records, nil
}
