package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// rewind brings commits that point beyond the end of their log back to the end.
//
// kfake does not sync what it writes, so that a power failure may take the end
// of a log and leave the commits. A group would wait at its offset for records
// that get lower ones: the next writes would be skipped, silently.
func rewind(ctx context.Context, options []kgo.Opt, log *slog.Logger) error {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	groups, err := admin.ListGroups(ctx)
	if err != nil {
		return fmt.Errorf("list groups: %w", err)
	}
	ends, err := admin.ListEndOffsets(ctx)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("read ends of logs: %w", err)
	}
	var errs []error
	for group, commits := range admin.FetchManyOffsets(ctx, groups.Groups()...) {
		if commits.Err != nil {
			errs = append(errs, fmt.Errorf("read commits of %s: %w", group, commits.Err))
			continue
		}
		if beyond := beyondEnds(commits.Fetched, ends); len(beyond) > 0 {
			log.Warn("commits point beyond their logs, whose ends are lost", "group", group, "topics", len(beyond))
			errs = append(errs, admin.CommitAllOffsets(ctx, group, beyond))
		}
	}
	return errors.Join(errs...)
}

// beyondEnds returns the ends of the partitions in which a commit is beyond.
func beyondEnds(commits kadm.OffsetResponses, ends kadm.ListedOffsets) kadm.Offsets {
	var beyond kadm.Offsets
	commits.Each(func(c kadm.OffsetResponse) {
		if end, ok := ends.Lookup(c.Topic, c.Partition); ok && c.At > end.Offset {
			beyond.AddOffset(c.Topic, c.Partition, end.Offset, -1)
		}
	})
	return beyond
}
