package drain

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

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
	commits, err := r.commits(ctx)
	if err != nil {
		return Status{}, err
	}
	starts, err := r.list(ctx, "starts", r.admin.ListStartOffsets, r.logs...)
	if err != nil {
		return Status{}, err
	}
	ends, err := r.list(ctx, "ends", r.admin.ListEndOffsets, r.logs...)
	if err != nil {
		return Status{}, err
	}
	tails, err := r.readTails(ctx, starts[r.names.Scheduled], ends[r.names.Scheduled])
	if err != nil {
		return Status{}, fmt.Errorf("read the last events of %s: %w", r.names.Scheduled, err)
	}
	s := Status{Gauges: sum(tails)}
	for p, end := range ends[r.names.Scheduled] {
		if was, ok := before[r.names.Scheduled][p]; !ok || was.Offset != end.Offset {
			s.Moving++
		}
	}
	s.Lags, err = r.lags(commits, starts, ends)
	return s, err
}

// list asks for the starts or the ends of logs, of which none may be missing.
func (r *Reader) list(ctx context.Context, what string, ask func(context.Context, ...string) (kadm.ListedOffsets, error), logs ...string) (kadm.ListedOffsets, error) {
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
	return listed, nil
}

func (r *Reader) commits(ctx context.Context) (kadm.FetchOffsetsResponses, error) {
	commits := r.admin.FetchManyOffsets(ctx, r.groups...)
	for _, group := range r.groups {
		c, ok := commits[group]
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
	}
	return commits, nil
}

// lags puts commits, starts and ends together, in the order of the loop.
func (r *Reader) lags(commits kadm.FetchOffsetsResponses, starts, ends kadm.ListedOffsets) (lags []Lag, err error) {
	for _, stage := range topics.Stages() {
		fetched := commits[r.names.Group(stage)].Fetched
		for _, topic := range r.names.Inputs(stage) {
			for p := range int32(len(ends[topic])) {
				start, ok1 := starts.Lookup(topic, p)
				end, ok2 := ends.Lookup(topic, p)
				if !ok1 || !ok2 {
					return nil, fmt.Errorf("read bounds of %s/%d: %w", topic, p, topics.ErrMissing)
				}
				l := Lag{Stage: stage, Topic: topic, Partition: p, Start: start.Offset, End: end.Offset, Committed: -1}
				if c, ok := fetched.Lookup(topic, p); ok {
					l.Committed = c.At
				}
				lags = append(lags, l)
			}
		}
	}
	return lags, nil
}
