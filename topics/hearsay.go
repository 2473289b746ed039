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

// listAll describes the named topics. It asks again, for hearsay, while some of
// them are missing.
func listAll(ctx context.Context, admin *kadm.Client, names []string) (details kadm.TopicDetails, err error) {
	err = hear(ctx, func() (all bool, err error) {
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
	err = hear(ctx, func() (all bool, err error) {
		settings, err = admin.DescribeTopicConfigs(ctx, names...)
		return !slices.ContainsFunc(settings, func(r kadm.ResourceConfig) bool { return errors.Is(r.Err, kerr.UnknownTopicOrPartition) }), err
	})
	return settings, err
}

// awaitCoordinator waits, for hearsay, until commits of groups can be asked for. A
// cluster that never had a group makes the topic that holds them when it is first
// asked, and until then whoever looks at a crawl would be told
// COORDINATOR_NOT_AVAILABLE. Other errors are for who needs the commits.
func awaitCoordinator(ctx context.Context, admin *kadm.Client, group string) error {
	return hear(ctx, func() (all bool, err error) {
		return !errors.Is(admin.FetchManyOffsets(ctx, group)[group].Err, kerr.CoordinatorNotAvailable), nil
	})
}

// hear asks until the answer is about all, but no longer than hearsay.
func hear(ctx context.Context, ask func() (all bool, err error)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for asked := time.Now(); ; {
		if all, err := ask(); all || err != nil || time.Since(asked) > hearsay {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
