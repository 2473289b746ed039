package topics

import (
	"context"
	"errors"
	"fmt"

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
	// Differs are settings that are not as designed: of topics that did exist,
	// and those of new ones that the brokers chose. They are left alone, since
	// they may be meant: Alter changes them, and Check says which of them a crawl
	// cannot live with.
	Differs []Difference
}

// Create creates the topics of a crawl that do not exist. It is idempotent.
func Create(ctx context.Context, admin *kadm.Client, s Spec) (Created, error) {
	if err := s.Validate(); err != nil {
		return Created{}, err
	}
	var (
		created Created
		names   []string
	)
	loop := Loop(s.Crawl).Topics()
	for _, t := range loop {
		names = append(names, t.Name)
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
	wait := hearsay
	if len(created.Topics) > 0 {
		wait = creation
		if err := awaitCoordinators(ctx, admin, groups(s.Crawl)); err != nil {
			return created, err
		}
	}
	details, err := listAll(ctx, admin, names, wait)
	if err != nil {
		return created, fmt.Errorf("list topics of %s: %w", s.Crawl, err)
	}
	created.Differs, err = differences(ctx, admin, loop, details, s.Partitions, s.Replication)
	return created, err
}

// groups are those of the loop's stages.
func groups(crawl string) (names []string) {
	for _, stage := range Stages() {
		names = append(names, Loop(crawl).Group(stage))
	}
	return names
}
