package topics

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// hearsay is how long brokers may take to hear from their controller of topics
// that were created this moment.
const hearsay = 2 * time.Second

// creation is how long brokers may take to lead the partitions of topics that
// they were told to create this moment: some thousand on a slow machine.
const creation = 30 * time.Second

// listAll describes the named topics. It asks again, for a time, while some of
// them are missing.
func listAll(ctx context.Context, admin *kadm.Client, names []string, within time.Duration) (details kadm.TopicDetails, err error) {
	err = hear(ctx, within, func() (all bool, err error) {
		// Authorised operations are not asked for themselves, but because kadm
		// answers from a cache of five seconds without them.
		details, err = admin.ListTopics(kadm.WithAuthorizedOps(ctx), names...)
		return !slices.ContainsFunc(names, func(name string) bool { return !details.Has(name) }), err
	})
	return details, err
}

// describeAll describes the settings of topics that exist. It asks again, for
// hearsay, while the broker that it asks knows nothing of some.
func describeAll(ctx context.Context, admin *kadm.Client, names []string) (settings kadm.ResourceConfigs, err error) {
	err = hear(ctx, hearsay, func() (all bool, err error) {
		settings, err = admin.DescribeTopicConfigs(ctx, names...)
		return !slices.ContainsFunc(settings, func(r kadm.ResourceConfig) bool { return errors.Is(r.Err, kerr.UnknownTopicOrPartition) }), err
	})
	return settings, err
}

// awaitCoordinators waits, for creation, until commits of groups can be asked for. A
// cluster that never had a group makes the topic that holds them when it is first
// asked, and until then whoever looks at a crawl would be told
// COORDINATOR_NOT_AVAILABLE. Other errors are for who needs the commits.
func awaitCoordinators(ctx context.Context, admin *kadm.Client, groups []string) error {
	return hear(ctx, creation, func() (all bool, err error) {
		answers := admin.FetchManyOffsets(ctx, groups...)
		return !slices.ContainsFunc(groups, func(group string) bool {
			return errors.Is(answers[group].Err, kerr.CoordinatorNotAvailable)
		}), nil
	})
}

// hear asks until the answer is about all, but no longer than for a time.
func hear(ctx context.Context, within time.Duration, ask func() (all bool, err error)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for asked := time.Now(); ; {
		if all, err := ask(); all || err != nil || time.Since(asked) > within {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
