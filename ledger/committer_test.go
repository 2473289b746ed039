package ledger

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// A commit that fails is made again, but not for a partition that was given up
// meanwhile: it is the next owner's.
func TestFailedCommitOfALostPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.OffsetCommit), 9) // as a membership's client
	client, err := kgo.NewClient(kgo.SeedBrokers(w.brokers...), kgo.MaxVersions(versions))
	check(t, err)
	defer client.Close()
	c := &committer{client: client, group: ledgerTopic, due: map[topicPartition]int64{}}
	w.cluster.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.forget(1)
		resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, asked := range req.(*kmsg.OffsetCommitRequest).Topics {
			topic := kmsg.NewOffsetCommitResponseTopic()
			topic.Topic = asked.Topic
			for _, p := range asked.Partitions {
				refused := kmsg.NewOffsetCommitResponseTopicPartition()
				refused.Partition, refused.ErrorCode = p.Partition, kerr.RebalanceInProgress.Code
				topic.Partitions = append(topic.Partitions, refused)
			}
			resp.Topics = append(resp.Topics, topic)
		}
		return resp, nil, true
	})
	c.mark(inTopic, 0, 10)
	c.mark(inTopic, 1, 20)
	if err := c.flush(t.Context()); err == nil {
		t.Fatal("the broker refused, and nobody says so")
	}
	if len(c.due) != 1 || c.due[topicPartition{inTopic, 0}] != 10 {
		t.Errorf("due are %v", c.due)
	}
}
