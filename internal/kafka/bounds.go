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
// milliseconds since 1970.
func BoundsSince(ctx context.Context, admin *kadm.Client, topic string, ms int64, partitions ...int32) (map[int32]Bounds, error) {
	starts, err := admin.ListOffsetsAfterMilli(ctx, ms, topic)
	if err != nil {
		return nil, fmt.Errorf("time index of %s: %w", topic, err)
	}
	return boundsFrom(ctx, admin, topic, starts, partitions)
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
