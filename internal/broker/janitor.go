package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weftcrawl/weft/internal/supervise"
)

// Janitor trims the topics that are kept until consumed, on any broker: up to the commit of the
// slowest group. It never trims a partition's last record, because the embedded broker forgets
// the end of an empty log when it is killed.
type Janitor struct {
	Admin *kadm.Client
	// Readers are the groups that read each topic. A partition in which a group has no
	// commit is not trimmed, and neither is a topic without groups.
	Readers map[string][]string
	// Every is the time between two rounds.
	Every time.Duration
	// Keep is how long records of a topic stay after all groups have committed them. In
	// other topics they are trimmed at once.
	Keep   map[string]time.Duration
	Logger *slog.Logger
}

// Run trims until ctx ends. The next round repeats the work of a failed one.
func (j Janitor) Run(ctx context.Context) error {
	var longest time.Duration
	for _, keep := range j.Keep {
		longest = max(longest, keep)
	}
	var seen readings
	return supervise.Every(ctx, j.Every, func() error {
		now := time.Now()
		commits, err := j.commits(ctx)
		if err == nil {
			seen = append(seen, reading{now, commits}).since(now.Add(-longest))
			err = j.trim(ctx, func(topic string) consumed { return seen.before(now.Add(-j.Keep[topic])) })
		}
		if err != nil && ctx.Err() == nil {
			j.Logger.Warn("trimming failed", "error", err)
		}
		return nil
	})
}

// consumed has the commits of each group; nil: they are not known.
type consumed map[string]kadm.OffsetResponses

// readings are commits as they were read, oldest first.
type readings []reading

type reading struct {
	at      time.Time
	commits consumed
}

// since leaves out readings that are older than the newest one at the time then.
func (r readings) since(then time.Time) readings {
	for len(r) > 1 && !r[1].at.After(then) {
		r = r[1:]
	}
	return r
}

// before returns the newest reading at the time then.
func (r readings) before(then time.Time) consumed {
	if r = r.since(then); len(r) == 0 || r[0].at.After(then) {
		return nil
	}
	return r[0].commits
}

// Trim does one round with the present commits.
func (j Janitor) Trim(ctx context.Context) error {
	commits, err := j.commits(ctx)
	if err != nil {
		return err
	}
	return j.trim(ctx, func(string) consumed { return commits })
}

// trim deletes the records before the commits that apply to each topic. The commits are read
// before the bounds of the logs: a group never needs a record before its commit again.
func (j Janitor) trim(ctx context.Context, behind func(topic string) consumed) error {
	topics := slices.Sorted(maps.Keys(j.Readers))
	starts, err := j.Admin.ListStartOffsets(ctx, topics...)
	if err := cmp.Or(err, starts.Error()); err != nil {
		return fmt.Errorf("read starts of logs to trim: %w", err)
	}
	ends, err := j.Admin.ListEndOffsets(ctx, topics...)
	if err := cmp.Or(err, ends.Error()); err != nil {
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
		if to := TrimTo(groups, end.Offset); to > start.Offset {
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

// commits returns the commits of all groups; nil for a group that never made one.
func (j Janitor) commits(ctx context.Context) (consumed, error) {
	all := consumed{}
	for _, groups := range j.Readers {
		for _, group := range groups {
			all[group] = nil
		}
	}
	for group, commits := range j.Admin.FetchManyOffsets(ctx, slices.Sorted(maps.Keys(all))...) {
		if errors.Is(commits.Err, kerr.GroupIDNotFound) {
			continue
		}
		if err := cmp.Or(commits.Err, commits.Fetched.Error()); err != nil {
			return nil, fmt.Errorf("read commits of %s: %w", group, err)
		}
		all[group] = commits.Fetched
	}
	return all, nil
}

// TrimTo returns the offset up to which a partition that ends at end can be trimmed: the commit
// of the slowest group, but not beyond the last record. -1 trims nothing.
func TrimTo(committed []int64, end int64) int64 {
	if len(committed) == 0 {
		return -1
	}
	return min(slices.Min(committed), end-1)
}
