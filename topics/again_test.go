package topics_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// A person deletes the topics of a crawl whose processes run. A crawl of that name begins only when they
// have ended: they would commit their offsets in its topics.
func TestDeletedCrawlThatRuns(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	n, spec := topics.Loop("weft"), topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1}
	if _, err := topics.Create(ctx, admin, spec); err != nil {
		t.Fatal(err)
	}
	process, err := kgo.NewClient(append(slices.Clone(options), kgo.ConsumerGroup(n.Group(topics.Parse)), kgo.ConsumeTopics(n.Fetched))...)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Close()
	comesToBe(t, "a member of the group", func() bool { return members(t, admin, n.Group(topics.Parse)) == 1 })

	if _, err := topics.Create(ctx, admin, spec); err != nil {
		t.Errorf("while the crawl runs: %v", err)
	}
	if _, err := admin.DeleteTopics(ctx, names(n)...); err != nil {
		t.Fatal(err)
	}
	comesToBe(t, "no topic of the crawl", func() bool { return !slices.ContainsFunc(names(n), existing(t, admin)) })
	_, err = topics.Create(ctx, admin, spec)
	if err == nil || !strings.Contains(err.Error(), "1 processes still run it (group weft.parse)") {
		t.Errorf("while processes of the deleted crawl run: %v", err)
	}
	if slices.ContainsFunc(names(n), existing(t, admin)) {
		t.Error("there are topics for these processes")
	}
	process.LeaveGroup()
	comesToBe(t, "an empty group", func() bool { return members(t, admin, n.Group(topics.Parse)) == 0 })
	if created, err := topics.Create(ctx, admin, spec); err != nil || len(created.Topics) != len(names(n)) {
		t.Errorf("after their end: %+v, %v", created, err)
	}
}

func names(n topics.Names) (all []string) {
	for _, topic := range n.Topics() {
		all = append(all, topic.Name)
	}
	return all
}

func members(t *testing.T, admin *kadm.Client, group string) int {
	t.Helper()
	described, err := admin.DescribeGroups(deadline(t), group)
	if err != nil {
		t.Fatal(err)
	}
	return len(described[group].Members)
}

func existing(t *testing.T, admin *kadm.Client) func(topic string) bool {
	t.Helper()
	listed, err := admin.ListTopics(kadm.WithAuthorizedOps(deadline(t))) // uncached
	if err != nil {
		t.Fatal(err)
	}
	return listed.Has
}

func comesToBe(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("there is never %s", what)
		}
	}
}
