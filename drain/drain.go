package drain

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

// Lag is how far a group is in one input partition.
type Lag struct {
	Stage     topics.Stage
	Topic     string
	Partition int32
	// Start and End of the log; Committed is where the group goes on, -1
	// before its first commit.
	Start, End, Committed int64
}

// Behind is the number of records that the group has not consumed.
func (l Lag) Behind() int64 { return l.End - max(l.Committed, l.Start) }

// Status is one reading of a crawl.
type Status struct {
	Lags []Lag
	// Gauges are summed over the partitions of scheduled.
	Gauges *weftpb.Gauges
	// Unknown counts partitions whose last record does not say what they hold:
	// they were claimed this moment.
	Unknown int
}

// Drained applies the test to a reading, which was made in the test's order.
func (s Status) Drained() bool {
	if s.Unknown > 0 || s.Gauges.GetPending() > 0 {
		return false
	}
	for _, l := range s.Lags {
		if l.Stage != topics.Fetch && l.Behind() > 0 {
			return false
		}
	}
	return true
}

// Behind sums the lags of a stage.
func (s Status) Behind(stage topics.Stage) (records int64) {
	for _, l := range s.Lags {
		if l.Stage == stage {
			records += l.Behind()
		}
	}
	return records
}

// Reader reads a crawl's status again and again over one connection.
type Reader struct {
	names  topics.Names
	admin  *kadm.Client
	client *kgo.Client
}

// NewReader connects; options say where the brokers are. Close it.
func NewReader(names topics.Names, options ...kgo.Opt) (*Reader, error) {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("connect to read the status of %s: %w", names.Crawl, err)
	}
	return &Reader{names: names, admin: kadm.NewClient(client), client: client}, nil
}

// Close frees the connection.
func (r *Reader) Close() { r.client.Close() }

// Read reads the crawl's status in the order that the test needs.
func (r *Reader) Read(ctx context.Context) (Status, error) {
	var s Status
	for _, stage := range topics.Stages() {
		commits, err := r.admin.FetchOffsetsForTopics(ctx, r.names.Group(stage), r.names.Inputs(stage)...)
		if err != nil {
			return s, fmt.Errorf("read commits of %s: %w", r.names.Group(stage), err)
		}
		var failed error
		commits.Each(func(o kadm.OffsetResponse) {
			failed = errors.Join(failed, o.Err)
			s.Lags = append(s.Lags, Lag{Stage: stage, Topic: o.Topic, Partition: o.Partition, Committed: o.At})
		})
		if failed != nil {
			return s, fmt.Errorf("read commits of %s: %w", r.names.Group(stage), failed)
		}
	}
	ends, err := r.bounds(ctx, &s)
	if err != nil {
		return s, err
	}
	return s, r.gauges(ctx, ends, &s)
}

// bounds fills in the starts and ends of all logs, and returns the ends of
// scheduled by partition.
func (r *Reader) bounds(ctx context.Context, s *Status) (map[int32]int64, error) {
	inputs := r.inputs()
	starts, err := r.admin.ListStartOffsets(ctx, inputs...)
	if err != nil {
		return nil, fmt.Errorf("read log starts: %w", err)
	}
	ends, err := r.admin.ListEndOffsets(ctx, inputs...)
	if err != nil {
		return nil, fmt.Errorf("read log ends: %w", err)
	}
	for i := range s.Lags {
		l := &s.Lags[i]
		start, ok1 := starts.Lookup(l.Topic, l.Partition)
		end, ok2 := ends.Lookup(l.Topic, l.Partition)
		if err := errors.Join(start.Err, end.Err); !ok1 || !ok2 || err != nil {
			return nil, fmt.Errorf("read bounds of %s/%d: %w", l.Topic, l.Partition, errors.Join(topics.ErrMissing, err))
		}
		l.Start, l.End = start.Offset, end.Offset
	}
	scheduled := map[int32]int64{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Topic == r.names.Scheduled {
			scheduled[o.Partition] = o.Offset
		}
	})
	return scheduled, nil
}

// inputs are the topics that the stages read, each once.
func (r *Reader) inputs() (list []string) {
	for _, stage := range topics.Stages() {
		list = append(list, r.names.Inputs(stage)...)
	}
	return list
}

// gauges reads the last record of each partition of scheduled.
func (r *Reader) gauges(ctx context.Context, ends map[int32]int64, s *Status) error {
	s.Gauges = new(weftpb.Gauges)
	from := map[int32]kgo.Offset{}
	for partition, end := range ends {
		if end > 0 {
			from[partition] = kgo.NewOffset().At(end - 1)
		}
	}
	if len(from) == 0 {
		return nil
	}
	topic := r.names.Scheduled
	r.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	defer r.client.PurgeTopicsFromConsuming(topic)
	for len(from) > 0 {
		fetches := r.client.PollFetches(ctx)
		if err := errors.Join(ctx.Err(), fetches.Err()); err != nil {
			return fmt.Errorf("read the end of %s: %w", topic, err)
		}
		var failed error
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) == 0 || from[p.Partition] == (kgo.Offset{}) {
				return
			}
			delete(from, p.Partition)
			failed = errors.Join(failed, s.add(p.Records[len(p.Records)-1]))
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}

// add adds the gauges of one partition's last record.
func (s *Status) add(r *kgo.Record) error {
	var ev weftpb.Event
	var body weftpb.Scheduled
	if err := errors.Join(proto.Unmarshal(r.Value, &ev), proto.Unmarshal(ev.Body, &body)); err != nil {
		return fmt.Errorf("decode %s/%s at %d: %w", r.Topic, strconv.Itoa(int(r.Partition)), r.Offset, err)
	}
	g := body.Gauges
	if g == nil {
		s.Unknown++
		return nil
	}
	s.Gauges.Pending += g.Pending
	s.Gauges.Queued += g.Queued
	s.Gauges.Out += g.Out
	s.Gauges.Domains += g.Domains
	s.Gauges.DomainsOut += g.DomainsOut
	s.Gauges.Fetched += g.Fetched
	s.Gauges.Failed += g.Failed
	s.Gauges.Refused += g.Refused
	s.Gauges.Visits += g.Visits
	return nil
}
