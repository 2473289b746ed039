package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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

// Difference is a setting of an existing topic that is not as designed.
type Difference struct {
	Topic, Config string
	Have, Want    string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s has %s=%s instead of %s", d.Topic, d.Config, d.Have, d.Want)
}

// Created is what Create did.
type Created struct {
	// Topics are those that did not exist.
	Topics []string
	// Differs are settings of those that did. They are left alone: they may be
	// meant. Check says which of them a crawl cannot live with.
	Differs []Difference
}

// Create creates the topics of a crawl that do not exist. It is idempotent.
func Create(ctx context.Context, admin *kadm.Client, s Spec) (Created, error) {
	if err := s.Validate(); err != nil {
		return Created{}, err
	}
	var (
		created  Created
		existing []Topic
	)
	for _, t := range Loop(s.Crawl).Topics() {
		partitions := s.Partitions
		if t.Single {
			partitions = 1
		}
		configs := map[string]*string{}
		for k, v := range t.Configs() {
			configs[k] = kadm.StringPtr(v)
		}
		_, err := admin.CreateTopic(ctx, partitions, s.Replication, configs, t.Name)
		switch {
		case errors.Is(err, kerr.TopicAlreadyExists):
			existing = append(existing, t)
		case err != nil:
			return created, fmt.Errorf("create topic %s: %w", t.Name, err)
		default:
			created.Topics = append(created.Topics, t.Name)
		}
	}
	if len(created.Topics) > 0 {
		if err := awaitCoordinator(ctx, admin, Loop(s.Crawl).Group(Normalize)); err != nil {
			return created, err
		}
	}
	differs, err := differences(ctx, admin, existing)
	created.Differs = differs
	return created, err
}

// differences compares the settings of topics with those designed.
func differences(ctx context.Context, admin *kadm.Client, ts []Topic) ([]Difference, error) {
	if len(ts) == 0 {
		return nil, nil
	}
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = t.Name
	}
	described, err := describeAll(ctx, admin, names)
	if err != nil {
		return nil, fmt.Errorf("describe configuration of topics: %w", err)
	}
	var differs []Difference
	for _, t := range ts {
		rc, err := described.On(t.Name, nil)
		if err == nil {
			err = rc.Err
		}
		if err != nil {
			return nil, fmt.Errorf("describe configuration of topic %s: %w", t.Name, err)
		}
		have := map[string]string{}
		for _, c := range rc.Configs {
			have[c.Key] = c.MaybeValue()
		}
		want := t.Configs()
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if have[key] != want[key] {
				differs = append(differs, Difference{t.Name, key, have[key], want[key]})
			}
		}
	}
	return differs, nil
}
