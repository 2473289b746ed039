package topics

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Difference is a setting of an existing topic that is not as designed.
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

// Alterable reports whether Alter can mend it. Partitions never change, see
// weft repartition; copies are moved by Kafka's own tools.
func (d Difference) Alterable() bool {
	return d.Config != PartitionCount && d.Config != ReplicationFactor
}

// unsafe reports whether a difference loses something or lets nothing be
// written, as against a choice of the operator.
// copies is how many the topic has.
func (d Difference) unsafe(t Topic, copies int) bool {
	switch d.Config {
	case PartitionCount:
		return true
	case "cleanup.policy":
		// Compaction removes events, and all but one URL of a domain.
		return t.Kept == Whole || t.Kept == Consumed
	case "retention.ms", "retention.bytes":
		return t.Kept == Whole || t.Kept == Consumed
	case "max.message.bytes":
		have, err := strconv.ParseInt(d.Have, 10, 64)
		return err != nil || have < int64(t.MaxMessageBytes)
	case minInsync:
		// Every write would be refused.
		have, err := strconv.Atoi(d.Have)
		return err != nil || have > copies
	}
	return false
}

// differences compares topics with those designed. partitions is the crawl's
// number, and replication that of copies; 0 or less: whatever they have. A topic
// that details does not describe is left out.
func differences(ctx context.Context, admin *kadm.Client, ts []Topic, details kadm.TopicDetails, partitions int32, replication int16) ([]Difference, error) {
	ts = slices.DeleteFunc(slices.Clone(ts), func(t Topic) bool { return !details.Has(t.Name) || details[t.Name].Err != nil })
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
