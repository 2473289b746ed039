package ledger

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// The first connection tells who the brokers are, and then none can be reached:
// what was opened by then is closed.
func TestConnectThatFailsLeavesNothing(t *testing.T) {
	w := newWorld(t)
	before := goleak.IgnoreCurrent()
	unreachable := errors.New("unreachable")
	var dials atomic.Int32
	o := w.options().withDefaults()
	o.Cluster.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			return nil, unreachable
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	r := &runner{Definition: Define(w.stage()), opts: o, log: o.Logger}
	if err := r.connect(); err == nil {
		t.Error("connected")
	}
	check(t, r.disconnect())
	goleak.VerifyNone(t, before, goleak.IgnoreTopFunction("github.com/rcrowley/go-metrics.(*meterArbiter).tick"))
}

func TestTopicManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options().withDefaults()
	r := &runner{Definition: Define(w.stage()), opts: o, log: o.Logger}
	check(t, r.connect())
	defer func() { check(t, r.disconnect()) }()
	topics := topicManager{r.topics, r}
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
