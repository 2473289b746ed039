package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// ErrMissing means that a topic of the crawl does not exist.
var ErrMissing = errors.New("topic does not exist")

// ErrUnsafe means that with the settings of a topic the crawl would lose URLs or
// pages, or would not be polite.
var ErrUnsafe = errors.New("topic is not safe for this crawl")

// Check verifies that a crawl can run on its topics. They must exist, have the
// pinned number of partitions, and accept the largest records that the loop writes.
// Only the janitor may delete from the topics that have the crawl's state or work.
// The error joins all problems, which wrap ErrMissing or ErrUnsafe.
func Check(ctx context.Context, admin *kadm.Client, n Names, partitions int32) error {
	loop := n.Topics()
	details, err := listAll(ctx, admin, namesOf(loop), metadataDelay)
	if err != nil {
		return fmt.Errorf("list topics of %s: %w", n.Crawl, err)
	}
	var wrong []error
	for _, t := range loop {
		if !details.Has(t.Name) {
			wrong = append(wrong, fmt.Errorf("%w: %s", ErrMissing, t.Name))
			continue
		}
		if err := details[t.Name].Err; err != nil {
			wrong = append(wrong, fmt.Errorf("describe topic %s: %w", t.Name, err))
		}
	}
	differs, err := differences(ctx, admin, loop, details, partitions, 0)
	if err != nil {
		return err
	}
	for _, d := range differs {
		t, _ := n.Topic(d.Topic)
		if d.unsafe(t, details[d.Topic].Partitions.NumReplicas()) {
			wrong = append(wrong, fmt.Errorf("%w: %s", ErrUnsafe, d))
		}
	}
	return errors.Join(wrong...)
}

// Difference is a setting of an existing topic that is not as planned.
type Difference struct {
	Topic string
	// Config is Kafka's name of the setting, or PartitionCount, or
	// ReplicationFactor.
	Config     string
	Have, Want string
}

// Settings of a topic that are not among its configuration.
const (
	PartitionCount    = "partitions"
	ReplicationFactor = "replication.factor"
)

func (d Difference) String() string {
	return fmt.Sprintf("%s has %s=%s instead of %s", d.Topic, d.Config, d.Have, d.Want)
}

// Alterable reports whether Alter can change it. The number of partitions never
// changes (see weft repartition), and Kafka's own tools change the number of copies.
func (d Difference) Alterable() bool {
	return d.Config != PartitionCount && d.Config != ReplicationFactor
}

// unsafe reports whether a difference loses records or makes writes impossible.
// Otherwise it is a choice of the operator. copies is how many the topic has.
func (d Difference) unsafe(t Topic, copies int) bool {
	switch d.Config {
	case PartitionCount:
		return true
	case "cleanup.policy":
		// Compaction removes events, and all but one URL of a domain.
		return t.Kept == Forever || t.Kept == UntilConsumed
	case "retention.ms", "retention.bytes":
		return t.Kept == Forever || t.Kept == UntilConsumed
	case "max.message.bytes":
		have, err := strconv.ParseInt(d.Have, 10, 64)
		return err != nil || have < int64(t.MaxMessageBytes)
	case minInsync:
		// With less copies than that every write would be refused.
		have, err := strconv.Atoi(d.Have)
		return err != nil || have > copies
	}
	return false
}

// differences compares topics with the plan. partitions is the crawl's number, and
// replication the number of copies; 0 or less: any number is right. A topic that
// details does not describe is left out.
func differences(ctx context.Context, admin *kadm.Client, ts []Topic, details kadm.TopicDetails, partitions int32, replication int16) ([]Difference, error) {
	ts = slices.DeleteFunc(slices.Clone(ts), func(t Topic) bool { return !details.Has(t.Name) || details[t.Name].Err != nil })
	if len(ts) == 0 {
		return nil, nil
	}
	described, err := describeAll(ctx, admin, namesOf(ts))
	if err != nil {
		return nil, fmt.Errorf("describe configuration of topics: %w", err)
	}
	var differs []Difference
	for _, t := range ts {
		have := details[t.Name].Partitions
		if want := t.partitions(partitions); want > 0 && len(have) != int(want) {
			differs = append(differs, Difference{t.Name, PartitionCount, strconv.Itoa(len(have)), strconv.Itoa(int(want))})
		}
		copies := have.NumReplicas()
		if replication > 0 && copies != int(replication) {
			differs = append(differs, Difference{t.Name, ReplicationFactor, strconv.Itoa(copies), strconv.Itoa(int(replication))})
		}
		rc, err := described.On(t.Name, nil)
		if err == nil {
			err = rc.Err
		}
		if err != nil {
			return nil, fmt.Errorf("describe configuration of topic %s: %w", t.Name, err)
		}
		settings := map[string]string{}
		for _, c := range rc.Configs {
			settings[c.Key] = c.MaybeValue()
		}
		want := t.Configs(int16(copies))
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if settings[key] != want[key] {
				differs = append(differs, Difference{t.Name, key, settings[key], want[key]})
			}
		}
	}
	return differs, nil
}

// alterationTimeout bounds Alter's wait for brokers to show the new configuration.
const alterationTimeout = 10 * time.Second

// Alter gives topics the planned configuration where it differs. Then it waits until the
// brokers show the new values, because the controller tells the brokers after it has
// answered. It returns the differences that it cannot change.
func Alter(ctx context.Context, admin *kadm.Client, differs []Difference) (left []Difference, err error) {
	var (
		names   []string // of topics, in their order
		changes = map[string][]kadm.AlterConfig{}
	)
	for _, d := range differs {
		if !d.Alterable() {
			left = append(left, d)
			continue
		}
		if changes[d.Topic] == nil {
			names = append(names, d.Topic)
		}
		changes[d.Topic] = append(changes[d.Topic], kadm.AlterConfig{Op: kadm.SetConfig, Name: d.Config, Value: kadm.StringPtr(d.Want)})
	}
	for _, name := range names {
		answers, err := admin.AlterTopicConfigs(ctx, changes[name], name)
		if err == nil {
			var answer kadm.AlterConfigsResponse
			if answer, err = answers.On(name, nil); err == nil {
				err = answer.Err
			}
		}
		if err != nil {
			return left, fmt.Errorf("alter configuration of topic %s: %w", name, err)
		}
	}
	return left, awaitAltered(ctx, admin, names, changes)
}

// awaitAltered waits until the brokers describe topics with the configuration of changes,
// for alterationTimeout at most.
func awaitAltered(ctx context.Context, admin *kadm.Client, names []string, changes map[string][]kadm.AlterConfig) error {
	if len(names) == 0 {
		return nil
	}
	err := retryWithin(ctx, alterationTimeout, func() (all bool, err error) {
		described, err := admin.DescribeTopicConfigs(ctx, names...)
		return !slices.ContainsFunc(described, func(topic kadm.ResourceConfig) bool {
			return slices.ContainsFunc(changes[topic.Name], func(want kadm.AlterConfig) bool {
				return !slices.ContainsFunc(topic.Configs, func(c kadm.Config) bool { return c.Key == want.Name && c.MaybeValue() == *want.Value })
			})
		}), err
	})
	if err != nil {
		return fmt.Errorf("describe configuration of altered topics: %w", err)
	}
	return nil
}
