package topics_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// cluster is a broker without topics, in memory or Apache Kafka, and the options
// to reach it.
func cluster(t *testing.T) (*kadm.Client, []kgo.Opt) {
	t.Helper()
	if kafka != nil {
		return emptied(t)
	}
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	options := []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...)}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return kadm.NewClient(client), options
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestLoopIsWhole(t *testing.T) {
	n := topics.Loop("news")
	names := map[string]topics.Topic{}
	for _, topic := range n.Topics() {
		if topic.Name != "news."+topic.Short {
			t.Errorf("%s is short for %s", topic.Short, topic.Name)
		}
		if topic.Kept == 0 || topic.MaxMessageBytes == 0 || topic.Kept == topics.UntilConsumed && topic.SegmentBytes == 0 {
			t.Errorf("%s is not described: %+v", topic.Name, topic)
		}
		if topic.SegmentBytes > 0 && topic.SegmentBytes < topic.MaxMessageBytes {
			t.Errorf("%s: Kafka refuses batches of %d bytes where segments have %d", topic.Name, topic.MaxMessageBytes, topic.SegmentBytes)
		}
		names[topic.Name] = topic
	}
	if len(names) != 10 {
		t.Errorf("%d topics", len(names))
	}
	groups := map[string]bool{}
	var read []string
	for _, stage := range append(topics.Groups(), topics.Pages) {
		group := n.Group(stage)
		if groups[group] || !strings.HasPrefix(group, "news.") {
			t.Errorf("group of %s is %s", stage, group)
		}
		groups[group] = true
		for _, input := range n.Inputs(stage) {
			if _, ok := names[input]; !ok {
				t.Errorf("%s reads %s, which is no topic", stage, input)
			}
			read = append(read, input)
		}
	}
	if n.Group(topics.Dedupe) != n.Deduped || n.Group(topics.Schedule) != n.Scheduled {
		t.Error("a ledger's group is not its topic")
	}
	for _, topic := range n.Topics() {
		if topic.Kept == topics.UntilConsumed && !slices.Contains(read, topic.Name) {
			t.Errorf("%s is kept until consumed, and no stage consumes it", topic.Name)
		}
	}
	for _, ledger := range []string{n.Deduped, n.Scheduled} {
		if names[ledger].Kept != topics.Forever {
			t.Errorf("ledger %s is not kept whole", ledger)
		}
	}
}

func TestCheckCrawl(t *testing.T) {
	for crawl, ok := range map[string]bool{
		"weft": true, "a": true, "news-2": true, "0": true, strings.Repeat("a", 100): true,
		"": false, "-a": false, "News": false, "a.b": false, "a_b": false, "a b": false, "é": false, strings.Repeat("a", 101): false,
	} {
		if err := topics.CheckCrawl(crawl); (err == nil) != ok {
			t.Errorf("%q: %v", crawl, err)
		}
	}
}

func TestCreateTwiceAndCheck(t *testing.T) {
	admin, _ := cluster(t)
	ctx := deadline(t)
	n := topics.Loop("weft")
	spec := topics.Spec{Crawl: "weft", Partitions: 3, Replication: -1}
	if err := topics.Check(ctx, admin, n, 3); !errors.Is(err, topics.ErrMissing) || errors.Is(err, topics.ErrUnsafe) {
		t.Errorf("before: %v", err)
	}
	created, err := topics.Create(ctx, admin, spec)
	if err != nil || len(created.Topics) != 10 || len(created.Differences) != 0 {
		t.Fatalf("first: %+v, %v", created, err)
	}
	if created, err = topics.Create(ctx, admin, spec); err != nil || len(created.Topics) != 0 || len(created.Differences) != 0 {
		t.Fatalf("second: %+v, %v", created, err)
	}
	if err := topics.Check(ctx, admin, n, 3); err != nil {
		t.Error(err)
	}
	if err := topics.Check(ctx, admin, n, 4); !errors.Is(err, topics.ErrUnsafe) || !strings.Contains(err.Error(), "weft.deduped has partitions=3 instead of 4") {
		t.Errorf("another number of partitions: %v", err)
	}
	details, err := admin.ListTopics(ctx, n.Config, n.Deduped)
	if err != nil {
		t.Fatal(err)
	}
	if c, d := len(details[n.Config].Partitions), len(details[n.Deduped].Partitions); c != 1 || d != 3 {
		t.Errorf("config has %d partitions, deduped %d", c, d)
	}
}

// TestCheckTellsLossFromTaste changes one setting at a time.
func TestCheckTellsLossFromTaste(t *testing.T) {
	n := topics.Loop("weft")
	for _, tc := range []struct {
		topic, config, value string
		safe                 bool
	}{
		{n.Deduped, "cleanup.policy", "compact", false},
		{n.Scheduled, "retention.ms", "604800000", false},
		{n.Config, "retention.bytes", "1000", false},
		{n.Discovered, "retention.ms", "604800000", false},
		{n.Discovered, "cleanup.policy", "compact", false},
		{n.Fetched, "max.message.bytes", "1048588", false},
		{n.Fetched, "max.message.bytes", "33554432", true},
		{n.Visited, "segment.bytes", "1073741824", true},
		{n.Parsed, "retention.ms", "604800000", true},
		{n.Parsed, "min.insync.replicas", "2", false},
		{n.Parsed, "cleanup.policy", "compact", true},
		{n.Rejected, "retention.ms", "-1", true},
	} {
		t.Run(tc.topic+" "+tc.config+"="+tc.value, func(t *testing.T) {
			admin, _ := cluster(t)
			ctx := deadline(t)
			spec := topics.Spec{Crawl: "weft", Partitions: 1, Replication: 1}
			if _, err := topics.Create(ctx, admin, spec); err != nil {
				t.Fatal(err)
			}
			altered, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Name: tc.config, Value: &tc.value}}, tc.topic)
			if err != nil || altered[0].Err != nil {
				t.Fatal(err, altered)
			}
			err = topics.Check(ctx, admin, n, 1)
			if tc.safe && err != nil || !tc.safe && !errors.Is(err, topics.ErrUnsafe) {
				t.Errorf("check: %v", err)
			}
			created, err := topics.Create(ctx, admin, spec)
			if err != nil {
				t.Fatal(err)
			}
			topic, _ := n.Topic(tc.topic)
			want := []topics.Difference{{Topic: tc.topic, Config: tc.config, Have: tc.value, Want: topic.Configs(1)[tc.config]}}
			if diff := cmp.Diff(want, created.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpecValidate(t *testing.T) {
	for spec, ok := range map[topics.Spec]bool{
		{Crawl: "weft", Partitions: 1, Replication: -1}: true,
		{Crawl: "weft", Partitions: 9, Replication: 3}:  true,
		{Crawl: "weft", Partitions: 0, Replication: 1}:  false,
		{Crawl: "weft", Partitions: 1}:                  false,
		{Crawl: "We", Partitions: 1, Replication: 1}:    false,
	} {
		if err := spec.Validate(); (err == nil) != ok {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// TestProducerFillsEachTopicToItsLimit: a page of 10 MiB goes into fetched, and
// the same bytes are refused for a topic that does not take them.
func TestProducerFillsEachTopicToItsLimit(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	n := topics.Loop("weft")
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	for _, compression := range []string{"none", "lz4"} {
		o := topics.DefaultProducerOptions()
		o.Compression = compression
		producer, err := topics.NewProducer(n, o, options...)
		if err != nil {
			t.Fatal(err)
		}
		defer producer.Close()
		// Random-like bytes, so that compression does not help.
		page := make([]byte, 10<<20)
		state := uint32(1)
		for i := range page {
			state = state*1664525 + 1013904223
			page[i] = byte(state >> 24)
		}
		r := &kgo.Record{Topic: n.Fetched, Key: []byte("a.example"), Value: page}
		if err := producer.ProduceSync(ctx, r).FirstErr(); err != nil {
			t.Errorf("%s: %v", compression, err)
		}
		if want := topics.Partition("a.example", 2); r.Partition != want {
			t.Errorf("%s: partition %d, not %d", compression, r.Partition, want)
		}
		if err := producer.ProduceSync(ctx, &kgo.Record{Topic: n.Normalized, Value: page}).FirstErr(); err == nil {
			t.Errorf("%s: 10 MiB into a topic of 1 MiB", compression)
		}
	}
}

func TestManualProducerKeepsPartition(t *testing.T) {
	admin, options := cluster(t)
	ctx := deadline(t)
	n := topics.Loop("weft")
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "weft", Partitions: 5, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	o := topics.DefaultProducerOptions()
	o.Manual = true
	producer, err := topics.NewProducer(n, o, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	elsewhere := (topics.Partition("a.example", 5) + 1) % 5
	r := &kgo.Record{Topic: n.Deduped, Partition: elsewhere, Key: []byte("a.example")}
	if err := producer.ProduceSync(ctx, r).FirstErr(); err != nil || r.Partition != elsewhere {
		t.Errorf("partition %d, not %d: %v", r.Partition, elsewhere, err)
	}
}

func TestProducerOptionsValidate(t *testing.T) {
	for name, change := range map[string]func(*topics.ProducerOptions){
		"compression": func(o *topics.ProducerOptions) { o.Compression = "brotli" },
		"linger":      func(o *topics.ProducerOptions) { o.Linger = -1 },
		"buffer":      func(o *topics.ProducerOptions) { o.MaxBufferedBytes = 1 << 20 },
		"timeout":     func(o *topics.ProducerOptions) { o.DeliveryTimeout = -1 },
	} {
		o := topics.DefaultProducerOptions()
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&o)
		if _, err := topics.NewProducer(topics.Loop("weft"), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The topics and groups of a crawl are recognised by their names.
func TestOwnNames(t *testing.T) {
	for name, want := range map[string][2]bool{
		"weft.seeds": {true, false}, "news.seeds": {true, false}, "weft.deduped": {false, true}, "weft.normalize": {false, true},
		"news.scheduled": {false, true}, "weft.fetch": {false, true}, "weft.parse": {false, true}, "weft.pages": {false, true},
		"weft.warc": {false, true}, "weft.troubles": {false, true}, "weft.consumers": {}, "weft.parsed": {}, "seeds": {}, ".seeds": {},
		"a.b.seeds": {}, "weft.seeds.": {}, "WEFT.seeds": {}, "my-notebook": {}, "": {},
	} {
		if got := [2]bool{topics.IsSeeds(name), topics.IsGroup(name)}; got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
