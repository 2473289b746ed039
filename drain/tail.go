package drain

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/ledger"
)

// tail is what the events of a partition of scheduled say up to end.
type tail struct {
	end int64
	// gauges of the last valid event before end; nil: there is none.
	gauges *weftpb.Gauges
}

// window is how many records are read at first, and widen by how much more when
// they tell nothing, since they are claims or older owners' events. What lies
// before the window may hold a claim that makes its events invalid; an owner
// that lost the partition stops at its first acknowledgement, so that a window
// of nothing but its events is the work of a moment, and the next reading is
// right.
const (
	window = 64
	widen  = 16
)

// readTails returns the tails of all partitions. What has not grown since the
// last time is not read again.
func (r *Reader) readTails(ctx context.Context, starts, ends map[int32]kadm.ListedOffset) ([]tail, error) {
	tails := make([]tail, 0, len(ends))
	for p, end := range ends {
		t, ok := r.tails[p]
		if !ok || t.end != end.Offset {
			var err error
			if t, err = r.readTail(ctx, p, starts[p].Offset, end.Offset); err != nil {
				return nil, fmt.Errorf("partition %d: %w", p, err)
			}
			r.tails[p] = t
		}
		tails = append(tails, t)
	}
	return tails, nil
}

// readTail reads the last events of a partition, more and more of them until
// one tells its gauges or there are no more.
func (r *Reader) readTail(ctx context.Context, p int32, start, end int64) (tail, error) {
	t := tail{end: end}
	for back := int64(window); t.gauges == nil; back *= widen {
		from := max(start, end-back)
		var follow ledger.Reader
		for at := from; at < end; {
			records, err := r.fetch(ctx, p, at)
			if err != nil {
				return tail{}, err
			}
			for _, rec := range records {
				if at = rec.Offset + 1; at > end {
					break // written after the ends were read
				}
				gauges, err := gaugesOf(&follow, rec)
				if err != nil {
					return tail{}, err
				}
				if gauges != nil {
					t.gauges = gauges
				}
			}
		}
		if from == start {
			break
		}
	}
	return t, nil
}

// gaugesOf returns the gauges that a record tells, nil if it is not valid or
// tells none.
func gaugesOf(follow *ledger.Reader, r *kgo.Record) (*weftpb.Gauges, error) {
	event, err := follow.Read(r.Value, r.Topic, r.Partition, r.Offset)
	if err != nil || event == nil {
		return nil, err
	}
	var body weftpb.Scheduled
	if err := proto.Unmarshal(event.Body, &body); err != nil {
		return nil, fmt.Errorf("%w: %s/%d at %d: %w", ledger.ErrCorrupt, r.Topic, r.Partition, r.Offset, err)
	}
	return body.Gauges, nil
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
