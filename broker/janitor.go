package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Janitor trims the topics that are kept until consumed, on any broker: behind
// the slowest of their groups, and never a partition's last record, since the
// embedded broker forgets the end of an emptied log when it is killed.
type Janitor struct {
	Admin *kadm.Client
	// Readers are the groups that read each topic. A group that has committed
	// nothing holds everything.
	Readers map[string][]string
	// Every is the time between two rounds.
	Every  time.Duration
	Logger *slog.Logger
}

// Run trims until ctx ends. A round that fails is repeated by the next one.
func (j Janitor) Run(ctx context.Context) error {
	ticker := time.NewTicker(j.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := j.Trim(ctx); err != nil && ctx.Err() == nil {
			j.Logger.Warn("trimming failed", "error", err)
		}
	}
}

// Trim does one round.
func (j Janitor) Trim(ctx context.Context) error {
	keep := map[string]map[int32]int64{} // first offset that somebody needs
	for topic, groups := range j.Readers {
		for _, group := range groups {
			commits, err := j.Admin.FetchOffsetsForTopics(ctx, group, topic)
			if err != nil {
				return fmt.Errorf("read commits of %s: %w", group, err)
			}
			commits.Each(func(o kadm.OffsetResponse) {
				if keep[topic] == nil {
					keep[topic] = map[int32]int64{}
				}
				if first, ok := keep[topic][o.Partition]; !ok || o.At < first {
					keep[topic][o.Partition] = o.At
				}
			})
		}
	}
	return j.trim(ctx, keep)
}

func (j Janitor) trim(ctx context.Context, keep map[string]map[int32]int64) error {
	var errs []error
	for topic, partitions := range keep {
		starts, err := j.Admin.ListStartOffsets(ctx, topic)
		if err != nil {
			return fmt.Errorf("start of %s: %w", topic, err)
		}
		ends, err := j.Admin.ListEndOffsets(ctx, topic)
		if err != nil {
			return fmt.Errorf("end of %s: %w", topic, err)
		}
		var offsets kadm.Offsets
		for p, first := range partitions {
			start, ok1 := starts.Lookup(topic, p)
			end, ok2 := ends.Lookup(topic, p)
			if to := min(first, end.Offset-1); ok1 && ok2 && to > start.Offset {
				offsets.AddOffset(topic, p, to, -1)
			}
		}
		if len(offsets) == 0 {
			continue
		}
		deleted, err := j.Admin.DeleteRecords(ctx, offsets)
		errs = append(errs, err, deleted.Error())
	}
	return errors.Join(errs...)
}
