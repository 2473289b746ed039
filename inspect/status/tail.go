package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// tail is the last event of a partition of scheduled up to end.
type tail struct {
	end int64
	topiclog.Last
	// damaged says why the log cannot be read; nil if it can.
	damaged error
}

// readTails reads the last events of all partitions. A partition that has not grown since
// the last time is not read again. Some of the others are read at the same time, because
// each takes the time of a request.
func (r *Monitor) readTails(ctx context.Context, starts, ends map[int32]int64, reading *Sample) error {
	if more := len(ends) - len(r.tails); more > 0 {
		r.tails = append(r.tails, make([]tail, more)...)
	}
	asking, askCtx := errgroup.WithContext(ctx)
	asking.SetLimit(tailsAtOnce)
	for p, end := range ends {
		if r.tails[p].end == end {
			continue
		}
		asking.Go(func() error {
			last, err := topiclog.ReadLast(topiclog.Bounds{Start: starts[p], End: end}, func(within topiclog.Bounds, visit func(*kgo.Record) error) error {
				return r.scan(askCtx, r.names.Scheduled, p, within, visit)
			})
			t := tail{end: end, Last: last}
			if errors.Is(err, ledger.ErrCorrupt) {
				t.damaged, err = err, nil
			}
			if err != nil {
				return fmt.Errorf("partition %d: %w", p, err)
			}
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

// tailsAtOnce is the number of partitions that are read at the same time.
const tailsAtOnce = 16

// scan calls visit with the records of a partition within bounds, in order, including
// those that end transactions.
func (r *Monitor) scan(ctx context.Context, topic string, p int32, within topiclog.Bounds, visit func(*kgo.Record) error) error {
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

// fetch reads records of a partition from an offset on. A single request is less work than
// a consumer, which would read all that the frontier writes.
func (r *Monitor) fetch(ctx context.Context, topic string, p int32, offset int64) ([]*kgo.Record, error) {
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

// maxMarkers bounds the records at the end of an input that are read.
const maxMarkers = 64

// errUnread ends the search at the first record that a stage still has to read.
var errUnread = errors.New("a record to read")

// passMarkers changes the commits of dedupe and schedule to the end of an input if only
// records that end transactions are left of it. The two stages never get such records, so
// they cannot commit them. It reads only while no URL is out: before that the crawl is not
// drained.
func (r *Monitor) passMarkers(ctx context.Context, reading *Sample) error {
	if g := sum(reading.Gauges); g.GetOut() != 0 || g.GetVisits() != 0 {
		return nil
	}
	for _, stage := range topics.StagesOf(topics.Ledger) {
		for _, topic := range r.names.Inputs(stage) {
			for p, end := range reading.Ends[topic] {
				from := reading.next(stage, topic, p)
				if from >= end || end-from > maxMarkers {
					continue
				}
				err := r.scan(ctx, topic, p, topiclog.Bounds{Start: from, End: end}, func(record *kgo.Record) error {
					if !record.Attrs.IsControl() {
						return errUnread
					}
					return nil
				})
				switch {
				case errors.Is(err, errUnread) || errors.Is(err, kerr.OffsetOutOfRange): // trimmed this moment
				case errors.Is(err, kerr.TopicAuthorizationFailed): // without the right to read, the records count as unread
				case err != nil:
					return fmt.Errorf("read the end of %s/%d: %w", topic, p, err)
				default:
					reading.Commits[stage].set(topic, p, end)
				}
			}
		}
	}
	return nil
}
