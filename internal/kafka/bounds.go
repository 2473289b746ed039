package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Bounds of a partition's log: it holds the offsets from Start to before End.
type Bounds struct{ Start, End int64 }

// BoundsOf returns the bounds of a topic's partitions: of the named ones, even if others
// have errors, or of all when none is named.
func BoundsOf(ctx context.Context, admin *kadm.Client, topic string, partitions ...int32) (map[int32]Bounds, error) {
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("start of %s: %w", topic, err)
	}
	return boundsFrom(ctx, admin, topic, starts, partitions)
}

// BoundsSince is BoundsOf from the first record on with a timestamp of ms or later, in
// milliseconds since 1970; or from the start of a log in which the broker does not find this record.
func BoundsSince(ctx context.Context, admin *kadm.Client, topic string, ms int64, partitions ...int32) (map[int32]Bounds, error) {
	starts, err := admin.ListOffsetsAfterMilli(ctx, ms, topic)
	if err != nil {
		return nil, fmt.Errorf("time index of %s: %w", topic, err)
	}
	if err := correct(ctx, admin, topic, ms, starts[topic]); err != nil {
		return nil, err
	}
	return boundsFrom(ctx, admin, topic, starts, partitions)
}

// correct replaces the answer that a log has no record since ms, if it is wrong, by the start of the
// log.
//
// Apache Kafka searches only the first segment with a record since ms. DeleteRecords leaves
// the segments before the new start of the log until the next check of retention, up to five minutes
// later. If the first segment is one of them, the broker answers that there is no such record, although
// later segments have some (4.1.0, UnifiedLog.fetchOffsetByTimestamp). The latest timestamp of
// the log shows that.
func correct(ctx context.Context, admin *kadm.Client, topic string, ms int64, starts map[int32]kadm.ListedOffset) error {
	var doubtful []int32
	for partition, start := range starts {
		if start.Err == nil && start.Timestamp < 0 && start.Offset > 0 {
			doubtful = append(doubtful, partition)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	latest, err := admin.ListMaxTimestampOffsets(ctx, topic)
	if err != nil {
		return fmt.Errorf("latest timestamps of %s: %w", topic, err)
	}
	firsts, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return fmt.Errorf("start of %s: %w", topic, err)
	}
	for _, partition := range doubtful {
		last, _ := latest.Lookup(topic, partition)
		if first, ok := firsts.Lookup(topic, partition); ok && first.Err == nil && last.Err == nil && last.Timestamp >= ms {
			starts[partition] = first
		}
	}
	return nil
}

// boundsFrom completes starts with the ends, which are asked for now.
func boundsFrom(ctx context.Context, admin *kadm.Client, topic string, starts kadm.ListedOffsets, partitions []int32) (map[int32]Bounds, error) {
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", topic, err)
	}
	if len(partitions) == 0 {
		if err := errors.Join(starts.Error(), ends.Error()); err != nil {
			return nil, fmt.Errorf("bounds of %s: %w", topic, err)
		}
		partitions = slices.Collect(maps.Keys(ends[topic]))
	}
	bounds := map[int32]Bounds{}
	for _, partition := range partitions {
		start, ok := starts.Lookup(topic, partition)
		end, ok2 := ends.Lookup(topic, partition)
		err := errors.Join(start.Err, end.Err)
		if err == nil && !(ok && ok2) {
			err = kerr.UnknownTopicOrPartition
		}
		if err != nil {
			return nil, fmt.Errorf("bounds of %s/%d: %w", topic, partition, err)
		}
		bounds[partition] = Bounds{start.Offset, end.Offset}
	}
	return bounds, nil
}
