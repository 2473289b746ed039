package topics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/topics"
)

// Settings that differ are altered, except those that cannot be.
func TestAlter(t *testing.T) {
	admin, _ := cluster(t)
	ctx := deadline(t)
	n := topics.Loop("weft")
	spec := topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1}
	day, small := "86400000", "1048588"
	if _, err := admin.CreateTopic(ctx, 3, 1, map[string]*string{"retention.ms": &day, "max.message.bytes": &small}, n.Deduped); err != nil {
		t.Fatal(err)
	}
	created, err := topics.Create(ctx, admin, spec)
	if err != nil {
		t.Fatal(err)
	}
	partitions := topics.Difference{Topic: n.Deduped, Config: topics.PartitionCount, Have: "3", Want: "2"}
	if diff := cmp.Diff([]topics.Difference{
		partitions,
		{Topic: n.Deduped, Config: "max.message.bytes", Have: small, Want: "1048576"},
		{Topic: n.Deduped, Config: "retention.ms", Have: day, Want: "-1"},
	}, created.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	left, err := topics.Alter(ctx, admin, created.Differences)
	if diff := cmp.Diff([]topics.Difference{partitions}, left); err != nil || diff != "" {
		t.Errorf("left by alter: %v (-want +got):\n%s", err, diff)
	}
	if created, err = topics.Create(ctx, admin, spec); err != nil || len(created.Differences) != 1 {
		t.Errorf("after alter: %+v, %v", created, err)
	}
}

// On three brokers an acknowledged record must be on two of them, if the user or the
// brokers choose three copies.
func TestCopiesOnThreeBrokers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three brokers")
	}
	c := kafkaserver.Start(t, kafkaserver.Options{Brokers: 3, Properties: map[string]string{"min.insync.replicas": "1"}})
	kafka = c
	defer func() { kafka = nil }()
	admin, _ := emptied(t)
	ctx := deadline(t)
	created, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 2, Replication: 3})
	if err != nil || len(created.Differences) > 0 {
		t.Fatalf("%+v, %v", created, err)
	}
	for _, topic := range topics.Loop("weft").Topics() {
		comesToHave(t, admin, topic.Name, "min.insync.replicas", "2")
	}
	created, err = topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1})
	if err != nil || len(created.Differences) != 10 || !strings.HasSuffix(created.Differences[0].String(), "replication.factor=3 instead of 1") {
		t.Errorf("with another replication: %+v, %v", created, err)
	}

	created, err = topics.Create(ctx, admin, topics.Spec{Crawl: "theirs", Partitions: 2, Replication: -1})
	if err != nil || len(created.Differences) != 10 || !strings.HasSuffix(created.Differences[0].String(), "min.insync.replicas=1 instead of 2") {
		t.Errorf("left to brokers that have one copy acknowledge: %+v, %v", created, err)
	}
	if left, err := topics.Alter(ctx, admin, created.Differences); err != nil || len(left) > 0 {
		t.Errorf("alter: %v, %v", left, err)
	}
	// Each broker learns it by itself.
	comesToHave(t, admin, topics.Loop("theirs").Deduped, "min.insync.replicas", "2")
}

// comesToHave waits until a topic has a setting: Kafka's brokers know it a moment
// after it was set.
func comesToHave(t *testing.T, admin *kadm.Client, topic, name, want string) {
	t.Helper()
	ctx := deadline(t)
	for have := ""; have != want; {
		described, err := admin.DescribeTopicConfigs(ctx, topic)
		if err != nil {
			t.Fatalf("%s has %s=%s: %v", topic, name, have, err) // at the deadline, if not before
		}
		rc, err := described.On(topic, nil)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(rc.Configs, func(c kadm.Config) bool { return c.Key == name })
		if i < 0 {
			t.Fatalf("%s has no %s", topic, name)
		}
		have = rc.Configs[i].MaybeValue()
	}
}
