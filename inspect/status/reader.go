package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/topics"
)

// Monitor reads a crawl's status again and again over one connection. For a loop at rest
// that is four small requests. Not for concurrent use.
type Monitor struct {
	names  topics.Names
	admin  *kadm.Client
	client *kgo.Client
	groups []string
	logs   []string // what the stages read, each once
	// tails are the partitions of scheduled as they were last read.
	tails []tail
}

// NewMonitor connects; options reach the brokers. The caller closes it.
func NewMonitor(names topics.Names, options ...kgo.Opt) (*Monitor, error) {
	client, err := kafka.NewClient(options...)
	if err != nil {
		return nil, err
	}
	r := &Monitor{names: names, admin: kadm.NewClient(client), client: client}
	for _, stage := range topics.Groups() {
		r.groups = append(r.groups, names.Group(stage))
		r.logs = append(r.logs, names.Inputs(stage)...)
	}
	return r, nil
}

// Close frees the connection.
func (r *Monitor) Close() { r.client.Close() }

// Read reads the crawl's status. The error wraps topics.ErrMissing if a topic does not
// exist.
func (r *Monitor) Read(ctx context.Context) (Status, error) {
	before, err := r.list(ctx, "ends", r.admin.ListEndOffsets, r.names.Scheduled)
	if err != nil {
		return Status{}, err
	}
	reading := Sample{Before: before[r.names.Scheduled]}
	// The starts of logs can be read at any time.
	asking, askCtx := errgroup.WithContext(ctx)
	asking.Go(func() (err error) {
		reading.Starts, err = r.list(askCtx, "starts", r.admin.ListStartOffsets, r.logs...)
		return err
	})
	asking.Go(func() (err error) {
		reading.Commits, err = r.commits(askCtx)
		return err
	})
	if err := asking.Wait(); err != nil {
		return Status{}, err
	}
	if reading.Ends, err = r.list(ctx, "ends", r.admin.ListEndOffsets, r.logs...); err != nil {
		return Status{}, err
	}
	if reading.Stable, err = r.stable(ctx, reading); err != nil {
		return Status{}, err
	}
	if err := r.readTails(ctx, reading.Starts[r.names.Scheduled], reading.Ends[r.names.Scheduled], &reading); err != nil {
		return Status{}, fmt.Errorf("read the last events of %s: %w", r.names.Scheduled, err)
	}
	if err := r.passMarkers(ctx, &reading); err != nil {
		return Status{}, err
	}
	return reading.Status(r.names)
}

// stable reads the stable ends of seeds if normalize is behind.
func (r *Monitor) stable(ctx context.Context, reading Sample) (Offsets, error) {
	seeds := r.names.Seeds
	for partition, end := range reading.Ends[seeds] {
		if reading.next(topics.Normalize, seeds, partition) < end {
			return r.list(ctx, "stable ends", r.admin.ListCommittedOffsets, seeds)
		}
	}
	return nil, nil
}

// list reads the starts or the ends of logs. It is an error if one does not exist.
func (r *Monitor) list(ctx context.Context, what string, ask func(context.Context, ...string) (kadm.ListedOffsets, error), logs ...string) (Offsets, error) {
	listed, err := ask(ctx, logs...)
	if err == nil {
		err = listed.Error()
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		err = topics.ErrMissing
	}
	for _, log := range logs {
		if err == nil && len(listed[log]) == 0 {
			err = fmt.Errorf("%w: %s", topics.ErrMissing, log)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read log %s of %s: %w", what, r.names.Crawl, err)
	}
	offsets := Offsets{}
	listed.Each(func(o kadm.ListedOffset) { offsets.set(o.Topic, o.Partition, o.Offset) })
	return offsets, nil
}

func (o Offsets) set(topic string, partition int32, offset int64) {
	if o[topic] == nil {
		o[topic] = map[int32]int64{}
	}
	o[topic][partition] = offset
}

func (r *Monitor) commits(ctx context.Context) (map[topics.Stage]Offsets, error) {
	answers := r.admin.FetchManyOffsets(ctx, r.groups...)
	commits := map[topics.Stage]Offsets{}
	for _, stage := range topics.Groups() {
		group := r.names.Group(stage)
		c, ok := answers[group]
		err := c.Err
		switch {
		case errors.Is(err, kerr.GroupIDNotFound):
			err = nil // it has committed nothing yet
		case err == nil && !ok:
			err = errors.New("no answer")
		case err == nil:
			err = c.Fetched.Error()
		}
		if err != nil {
			return nil, fmt.Errorf("read commits of %s: %w", group, err)
		}
		commits[stage] = Offsets{}
		c.Fetched.Each(func(o kadm.OffsetResponse) { commits[stage].set(o.Topic, o.Partition, o.At) })
	}
	return commits, nil
}
