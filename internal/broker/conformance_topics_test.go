package broker

import (
	"crypto/rand"
	"errors"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// settings describes a topic.
func (c corner) settings(topic string) map[string]string {
	c.Helper()
	described, err := c.admin.DescribeTopicConfigs(c.ctx, topic)
	if err != nil {
		c.Fatal(err)
	}
	rc, err := described.On(topic, nil)
	if err != nil || rc.Err != nil {
		c.Fatal(err, rc.Err)
	}
	all := map[string]string{}
	for _, s := range rc.Configs {
		all[s.Key] = s.MaybeValue()
	}
	return all
}

// hasSettings waits for a topic to have settings, among others.
func (c corner) hasSettings(topic string, want map[string]string) {
	c.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		have := c.settings(topic)
		maps.DeleteFunc(have, func(name, _ string) bool { return want[name] == "" })
		if maps.Equal(have, want) {
			return
		}
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			c.Fatalf("%s has %v, want %v", topic, have, want)
		}
	}
}

func topicCreatedAsTold(c corner) {
	want := map[string]string{
		"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1",
		"max.message.bytes": "16777216", "segment.bytes": "8388608",
	}
	var settings []string
	for name, value := range want {
		settings = append(settings, name, value)
	}
	topic := c.topic("t", 3, settings...)
	c.hasSettings(topic, want)
	if _, err := c.admin.CreateTopic(c.ctx, 3, -1, nil, topic); !errors.Is(err, kerr.TopicAlreadyExists) {
		c.Errorf("created again: %v", err)
	}
}

// A topic is found with its partitions, and with the id by which data
// directories are named.
func topicFoundOnceCreated(c corner) {
	if found := c.found(c.topic("t", 2)); len(found.Partitions) != 2 || found.TopicID == [16]byte{} {
		c.Errorf("%d partitions, id %v", len(found.Partitions), found.TopicID)
	}
}

// found waits until all brokers know a topic that was created. They do soon, but
// not at once: they hear of it from their controller (topics.Check).
func (c corner) found(topic string) (found kmsg.MetadataResponseTopic) {
	c.Helper()
	name := kmsg.NewMetadataRequestTopic()
	name.Topic = &topic
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = append(request.Topics, name)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for _, broker := range c.client.SeedBrokers() {
		for {
			response, err := broker.Request(c.ctx, request)
			if err != nil {
				c.Fatal(err)
			}
			if found = response.(*kmsg.MetadataResponse).Topics[0]; found.ErrorCode == 0 {
				break
			}
			select {
			case <-ticker.C:
			case <-c.ctx.Done():
				c.Fatalf("topic %s is not found", topic)
			}
		}
	}
	return found
}

func topicSettingsAltered(c corner) {
	topic := c.topic("t", 1, "retention.ms", "-1")
	alter := func(name, value string) error {
		altered, err := c.admin.AlterTopicConfigs(c.ctx, []kadm.AlterConfig{{Name: name, Value: &value}}, topic)
		if err != nil {
			c.Fatal(err)
		}
		return altered[0].Err
	}
	if err := alter("cleanup.policy", "compact"); err != nil {
		c.Error(err)
	}
	if err := alter("retention.ms", "604800000"); err != nil {
		c.Error(err)
	}
	c.hasSettings(topic, map[string]string{"cleanup.policy": "compact", "retention.ms": "604800000"})
}

func topicUnknown(c corner) {
	listed, err := c.admin.ListTopics(kadm.WithAuthorizedOps(c.ctx), c.prefix+"none")
	if err != nil || listed.Has(c.prefix+"none") {
		c.Errorf("a topic that nobody created is there: %v, %v", listed, err)
	}
	starts, err := c.admin.ListStartOffsets(c.ctx, c.prefix+"none")
	if err != nil {
		c.Fatal(err)
	}
	if o, _ := starts.Lookup(c.prefix+"none", 0); o.Err != nil && !errors.Is(o.Err, kerr.UnknownTopicOrPartition) {
		c.Errorf("the start of a topic that nobody created: %v", o.Err)
	}
	producer := c.connect(kgo.UnknownTopicRetries(0))
	err = producer.ProduceSync(c.ctx, &kgo.Record{Topic: c.prefix + "none"}).FirstErr()
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		c.Errorf("written to it: %v", err)
	}
}

// A topic takes batches of its max.message.bytes, whatever the broker's own
// limit is, and refuses larger ones.
func topicLimitOfBatches(c corner) {
	small, large := c.topic("small", 1, "max.message.bytes", "1048576"), c.topic("large", 1, "max.message.bytes", "16777216")
	producer := c.connect(kgo.ProducerBatchMaxBytes(32<<20), kgo.BrokerMaxWriteBytes(64<<20), kgo.ProducerBatchCompression(kgo.NoCompression()))
	for _, tc := range []struct {
		topic string
		bytes int
		want  error
	}{
		{small, 1_000_000, nil}, {small, 1_050_000, kerr.MessageTooLarge},
		{large, 15_000_000, nil}, {large, 17_000_000, kerr.MessageTooLarge},
	} {
		value := make([]byte, tc.bytes)
		_, _ = rand.Read(value) // never fails
		if err := producer.ProduceSync(c.ctx, &kgo.Record{Topic: tc.topic, Value: value}).FirstErr(); !errors.Is(err, tc.want) {
			c.Errorf("%d bytes to %s: %v, want %v", tc.bytes, tc.topic, err, tc.want)
		}
	}
}

// The janitor does on every broker what it does on the embedded one.
func janitorTrims(c corner) {
	topic := c.topic("t", 1)
	c.write(topic, "0", "1", "2", "3")
	c.commit("g", topic, 3)
	janitor := Janitor{Admin: c.admin, Readers: map[string][]string{topic: {c.prefix + "g"}}}
	for _, step := range []struct{ commit, start int64 }{{3, 3}, {4, 3}} {
		c.commit("g", topic, step.commit)
		if err := janitor.Trim(c.ctx); err != nil {
			c.Fatal(err)
		}
		if start, end := c.bounds(topic); start != step.start || end != 4 {
			c.Errorf("commit at %d: the log is from %d to %d, want from %d to 4", step.commit, start, end, step.start)
		}
	}
	behind := Janitor{Admin: c.admin, Readers: map[string][]string{topic: {c.prefix + "g", c.prefix + "never"}}}
	c.write(topic, "4", "5")
	c.commit("g", topic, 6)
	if err := behind.Trim(c.ctx); err != nil {
		c.Fatal(err)
	}
	if start, _ := c.bounds(topic); start != 3 {
		c.Errorf("trimmed to %d before a reader that has committed nothing", start)
	}
}
