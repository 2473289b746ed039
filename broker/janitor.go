package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Janitor trims the topics that are kept until consumed, on any broker: behind
// the slowest of their groups, and never a partition's last record, since the
// embedded broker forgets the end of an emptied log when it is killed.
type Janitor struct {
	Admin *kadm.Client
	// Readers are the groups that read each topic. A group that has committed
	// nothing in a partition holds all of it. A topic without groups is not
	// trimmed.
	Readers map[string][]string
	// Every is the time between two rounds.
	Every time.Duration
	// Keep is how long records of a topic stay after all groups have committed
	// them; of the others they go at once.
	Keep   map[string]time.Duration
	Logger *slog.Logger
}

// Run trims until ctx ends. A round that fails is made up for by the next.
func (j Janitor) Run(ctx context.Context) error {
	ticker := time.NewTicker(j.Every)
	defer ticker.Stop()
	var longest time.Duration
	for _, keep := range j.Keep {
		longest = max(longest, keep)
	}
	var seen readings
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := time.Now()
		commits, err := j.commits(ctx)
		if err == nil {
			seen = append(seen, reading{now, commits}).since(now.Add(-longest))
			err = j.trim(ctx, func(topic string) consumed { return seen.before(now.Add(-j.Keep[topic])) })
		}
		if err != nil && ctx.Err() == nil {
			j.Logger.Warn("trimming failed", "error", err)
		}
	}
}

// consumed is the commits of each group; nil: nothing is known.
type consumed map[string]kadm.OffsetResponses

// readings are commits as they were read, oldest first.
type readings []reading

type reading struct {
	at      time.Time
	commits consumed
}

// since leaves out what is older than the newest reading that was made by then.
func (r readings) since(then time.Time) readings {
	for len(r) > 1 && !r[1].at.After(then) {
		r = r[1:]
	}
	return r
}

// before returns the newest reading that was made by then.
func (r readings) before(then time.Time) consumed {
	if r = r.since(then); len(r) == 0 || r[0].at.After(then) {
		return nil
	}
	return r[0].commits
}

// Trim does one round behind the commits as they are now.
func (j Janitor) Trim(ctx context.Context) error {
	commits, err := j.commits(ctx)
	if err != nil {
		return err
	}
	return j.trim(ctx, func(string) consumed { return commits })
}

// trim deletes what lies behind the commits that hold for each topic. They are
// read before the bounds of the logs: what a group has committed it does not
// need again, however long ago that was.
func (j Janitor) trim(ctx context.Context, behind func(topic string) consumed) error {
	topics := slices.Sorted(maps.Keys(j.Readers))
	starts, err := j.Admin.ListStartOffsets(ctx, topics...)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return fmt.Errorf("read starts of logs to trim: %w", err)
	}
	ends, err := j.Admin.ListEndOffsets(ctx, topics...)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("read ends of logs to trim: %w", err)
	}
	var trim kadm.Offsets
	starts.Each(func(start kadm.ListedOffset) {
		end, ok := ends.Lookup(start.Topic, start.Partition)
		if !ok {
			return
		}
		commits := behind(start.Topic)
		var groups []int64
		for _, group := range j.Readers[start.Topic] {
			committed := int64(-1)
			if c, ok := commits[group].Lookup(start.Topic, start.Partition); ok {
				committed = c.At
			}
			groups = append(groups, committed)
		}
		if to := trimTo(groups, end.Offset); to > start.Offset {
			trim.AddOffset(start.Topic, start.Partition, to, -1)
		}
	})
	if len(trim) == 0 {
		return nil
	}
	deleted, err := j.Admin.DeleteRecords(ctx, trim)
	if err := errors.Join(err, deleted.Error()); err != nil {
		return fmt.Errorf("trim logs: %w", err)
	}
	return nil
}

// commits returns the commits of all groups, none for those that never made
// one.
func (j Janitor) commits(ctx context.Context) (consumed, error) {
	all := consumed{}
	for _, groups := range j.Readers {
		for _, group := range groups {
			all[group] = nil
		}
	}
	for group, commits := range j.Admin.FetchManyOffsets(ctx, slices.Sorted(maps.Keys(all))...) {
		err := commits.Err
		if errors.Is(err, kerr.GroupIDNotFound) {
			continue
		}
		if err == nil {
			err = commits.Fetched.Error()
		}
		if err != nil {
			return nil, fmt.Errorf("read commits of %s: %w", group, err)
		}
		all[group] = commits.Fetched
	}
	return all, nil
}

// trimTo returns the offset before which nobody needs a record of a partition
// that ends at end: that of the slowest group, but not beyond the last record.
// -1 trims nothing.
func trimTo(committed []int64, end int64) int64 {
	if len(committed) == 0 {
		return -1
	}
	return min(slices.Min(committed), end-1)
}
