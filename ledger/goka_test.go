package ledger

import (
	"slices"
	"testing"
)

func TestTopicManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	topics := topicManager{table: &table{life: t.Context(), run: &runner{admin: w.admin}}}
	w.produce("a", "b")
	if have, err := topics.Partitions(inTopic); err != nil || !slices.Equal(have, []int32{0}) {
		t.Errorf("partitions %v: %v", have, err)
	}
	for offset, at := range map[int64]int64{0: -2, 2: -1} { // sarama.OffsetOldest, OffsetNewest
		if have, err := topics.GetOffset(inTopic, 0, at); err != nil || have != offset {
			t.Errorf("offset %d: %d, %v", at, have, err)
		}
	}
	check(t, topics.EnsureTableExists(ledgerTopic, 1))
	for topic, partitions := range map[string]int{ledgerTopic: 2, "none": 1} {
		if err := topics.EnsureTableExists(topic, partitions); err == nil {
			t.Errorf("%s of %d partitions is there", topic, partitions)
		}
	}
	if w.cluster.TopicInfo("none") != nil {
		t.Error("a topic was created")
	}
}
