package topics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// Spec is what a crawl's topics are created with.
type Spec struct {
	Crawl string
	// Partitions of every topic but config.
	Partitions int32
	// Replication is the number of copies; -1 leaves it to the brokers.
	Replication int16
}

// Validate says what is wrong with the spec, if anything.
func (s Spec) Validate() error {
	switch {
	case s.Partitions < 1:
		return fmt.Errorf("%d partitions are too few", s.Partitions)
	case s.Replication == 0 || s.Replication < -1:
		return fmt.Errorf("replication %d is neither positive nor -1", s.Replication)
	}
	return CheckCrawl(s.Crawl)
}

// Created is what Create did.
type Created struct {
	// Topics are those that did not exist.
	Topics []string
	// Differences are settings that are not as planned: of topics that did exist, and settings
	// of new topics that the brokers chose. Create does not change them, because they may be
	// intended. Alter changes them, and Check tells with which of them a crawl cannot run.
	Differences []Difference
}

// Create creates the topics of a crawl that do not exist. It is idempotent. It refuses to begin a crawl
// while processes of a deleted crawl of the same name run.
func Create(ctx context.Context, admin *kadm.Client, s Spec) (Created, error) {
	if err := s.Validate(); err != nil {
		return Created{}, err
	}
	if err := checkEnded(ctx, admin, Loop(s.Crawl)); err != nil {
		return Created{}, err
	}
	var created Created
	loop := Loop(s.Crawl).Topics()
	for _, t := range loop {
		configs := map[string]*string{}
		for k, v := range t.Configs(s.Replication) {
			configs[k] = kadm.StringPtr(v)
		}
		_, err := admin.CreateTopic(ctx, t.partitions(s.Partitions), s.Replication, configs, t.Name)
		switch {
		case errors.Is(err, kerr.TopicAlreadyExists):
		case err != nil:
			return created, fmt.Errorf("create topic %s: %w", t.Name, err)
		default:
			created.Topics = append(created.Topics, t.Name)
		}
	}
	wait := metadataDelay
	if len(created.Topics) > 0 {
		wait = creationTimeout
		if err := awaitCoordinators(ctx, admin, groups(s.Crawl)); err != nil {
			return created, err
		}
	}
	details, err := listAll(ctx, admin, namesOf(loop), wait)
	if err != nil {
		return created, fmt.Errorf("list topics of %s: %w", s.Crawl, err)
	}
	created.Differences, err = differences(ctx, admin, loop, details, s.Partitions, s.Replication)
	return created, err
}

// groups are the consumer groups of the loop's stages.
func groups(crawl string) (names []string) {
	for _, stage := range Stages() {
		names = append(names, Loop(crawl).Group(stage))
	}
	return names
}

// checkEnded makes sure that no process runs a crawl whose topics were deleted: it would commit its
// offsets in the new topics of the same names, whose records nobody would read then.
func checkEnded(ctx context.Context, admin *kadm.Client, n Names) error {
	listed, err := admin.ListTopics(kadm.WithAuthorizedOps(ctx), n.Config) // uncached
	if err != nil || listed.Has(n.Config) {
		return err
	}
	names := groups(n.Crawl)
	if err := awaitCoordinators(ctx, admin, names); err != nil {
		return err
	}
	described, err := admin.DescribeGroups(ctx, names...)
	if err != nil {
		return fmt.Errorf("describe the groups of %s: %w", n.Crawl, err)
	}
	for _, group := range described.Sorted() {
		switch {
		case errors.Is(group.Err, kerr.GroupIDNotFound):
		case group.Err != nil:
			return fmt.Errorf("describe group %s: %w", group.Group, group.Err)
		case len(group.Members) > 0:
			return fmt.Errorf("the topics of crawl %s are gone, and %d processes still run it (group %s): end them first (a killed process counts until its session ends)",
				n.Crawl, len(group.Members), group.Group)
		}
	}
	return nil
}

// metadataDelay is how long brokers may take to learn from their controller about a topic
// that was just created.
const metadataDelay = 2 * time.Second

// creationTimeout is how long brokers may take to lead the partitions of topics that were
// just created: a thousand or more on a slow machine.
const creationTimeout = 30 * time.Second

// listAll describes the named topics. It repeats the request, for a time, while some of them
// are missing.
func listAll(ctx context.Context, admin *kadm.Client, names []string, within time.Duration) (details kadm.TopicDetails, err error) {
	err = retryWithin(ctx, within, func() (all bool, err error) {
		// A request with authorised operations does not use kadm's cache of five
		// seconds.
		details, err = admin.ListTopics(kadm.WithAuthorizedOps(ctx), names...)
		return !slices.ContainsFunc(names, func(name string) bool { return !details.Has(name) }), err
	})
	return details, err
}

// describeAll describes the settings of topics that exist. It repeats the request, for
// metadataDelay, while the broker does not know some of them.
func describeAll(ctx context.Context, admin *kadm.Client, names []string) (settings kadm.ResourceConfigs, err error) {
	err = retryWithin(ctx, metadataDelay, func() (all bool, err error) {
		settings, err = admin.DescribeTopicConfigs(ctx, names...)
		return !slices.ContainsFunc(settings, func(r kadm.ResourceConfig) bool { return errors.Is(r.Err, kerr.UnknownTopicOrPartition) }), err
	})
	return settings, err
}

// awaitCoordinators waits, for creationTimeout, until commits of groups can be read. A
// cluster that never had a group creates the topic of commits at the first request, and
// answers COORDINATOR_NOT_AVAILABLE until then. Other errors are left to the readers of the
// commits.
func awaitCoordinators(ctx context.Context, admin *kadm.Client, groups []string) error {
	return retryWithin(ctx, creationTimeout, func() (all bool, err error) {
		answers := admin.FetchManyOffsets(ctx, groups...)
		return !slices.ContainsFunc(groups, func(group string) bool {
			return errors.Is(answers[group].Err, kerr.CoordinatorNotAvailable)
		}), nil
	})
}

// retryWithin repeats ask until it reports all, or fails, or the time is over. When the time is over,
// it returns nil, and the caller goes on with the last answer.
func retryWithin(ctx context.Context, within time.Duration, ask func() (all bool, err error)) error {
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
