package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
)

// rewind moves commits beyond the end of their log back to the end.
//
// kfake does not sync its writes, so that a power failure may lose the end of a log and keep
// the commits. Such a group would wait at its offset while new records get lower offsets: it
// would silently skip them.
func rewind(ctx context.Context, options []kgo.Opt, log *slog.Logger) error {
	client, err := kafka.NewClient(options...)
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
	if err := cmp.Or(err, ends.Error()); err != nil {
		return fmt.Errorf("read ends of logs: %w", err)
	}
	var errs []error
	for group, commits := range admin.FetchManyOffsets(ctx, groups.Groups()...) {
		if commits.Err != nil {
			errs = append(errs, fmt.Errorf("read commits of %s: %w", group, commits.Err))
			continue
		}
		if beyond := beyondEnds(commits.Fetched, ends); len(beyond) > 0 {
			log.Warn("commits were beyond the ends of their logs: the records there are lost", "group", group, "topics", len(beyond))
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
