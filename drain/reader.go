package drain

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/topics"
)

// Reader reads a crawl's status again and again over one connection. A reading
// of a loop at rest is four small requests. Not for concurrent use.
type Reader struct {
	names  topics.Names
	admin  *kadm.Client
	client *kgo.Client
	groups []string
	logs   []string // what the stages read, each once
	// tails are the partitions of scheduled as they were last read.
	tails map[int32]tail
}

// NewReader connects; options say where the brokers are. Close it.
func NewReader(names topics.Names, options ...kgo.Opt) (*Reader, error) {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("connect to read the status of %s: %w", names.Crawl, err)
	}
	r := &Reader{names: names, admin: kadm.NewClient(client), client: client, tails: map[int32]tail{}}
	for _, stage := range topics.Stages() {
		r.groups = append(r.groups, names.Group(stage))
		r.logs = append(r.logs, names.Inputs(stage)...)
	}
	return r, nil
}

// Close frees the connection.
func (r *Reader) Close() { r.client.Close() }

// Read reads the crawl's status, in the order that the test needs. The error
// wraps topics.ErrMissing when a topic does not exist.
func (r *Reader) Read(ctx context.Context) (Status, error) {
	before, err := r.list(ctx, "ends", r.admin.ListEndOffsets, r.names.Scheduled)
	if err != nil {
		return Status{}, err
	}
	reading := Reading{Before: before[r.names.Scheduled]}
	// Where logs start has no place in the order.
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

// stable asks for the stable ends of seeds where normalize is behind.
func (r *Reader) stable(ctx context.Context, reading Reading) (Offsets, error) {
	seeds := r.names.Seeds
	for partition, end := range reading.Ends[seeds] {
		commit, ok := reading.Commits[topics.Normalize][seeds][partition]
		if !ok {
			commit = -1
		}
		if max(commit, reading.Starts[seeds][partition]) < end {
			return r.list(ctx, "stable ends", r.admin.ListCommittedOffsets, seeds)
		}
	}
	return nil, nil
}

// list asks for the starts or the ends of logs, of which none may be missing.
func (r *Reader) list(ctx context.Context, what string, ask func(context.Context, ...string) (kadm.ListedOffsets, error), logs ...string) (Offsets, error) {
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

func (r *Reader) commits(ctx context.Context) (map[topics.Stage]Offsets, error) {
	answers := r.admin.FetchManyOffsets(ctx, r.groups...)
	commits := map[topics.Stage]Offsets{}
	for _, stage := range topics.Stages() {
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
