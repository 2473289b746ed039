package broker

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/test/kafkaserver"
)

// conformance is what Weft takes for granted of a broker. Each is tried on every
// broker that Weft supports, side by side, and keeps to its corner.
var conformance = map[string]func(corner){
	"topics/created as told":       topicCreatedAsTold,
	"topics/found once created":    topicFoundOnceCreated,
	"topics/settings altered":      topicSettingsAltered,
	"topics/unknown":               topicUnknown,
	"topics/limit of batches":      topicLimitOfBatches,
	"produce/as written":           recordsComeBackAsWritten,
	"produce/in order":             recordsKeepTheirOrder,
	"produce/repeats dropped":      repeatedBatchIsDropped,
	"produce/gaps refused":         gapInSequenceIsRefused,
	"produce/old epoch refused":    oldEpochIsRefused,
	"produce/ids differ":           producersHaveTheirOwnIDs,
	"produce/two writers fenced":   writersOfALedgerFence,
	"offsets/of times":             offsetsOfTimes,
	"offsets/of times of a rest":   offsetsOfTimesOfATrimmedLog,
	"offsets/trimmed":              logIsTrimmed,
	"offsets/emptied":              emptiedLogKeepsItsEnd,
	"offsets/out of range":         outOfRangeIsTold,
	"offsets/waits for more":       fetchWaitsForMore,
	"offsets/larger than a fetch":  recordLargerThanAFetch,
	"groups/commits":               groupKeepsCommits,
	"groups/nobody's":              groupOfNobody,
	"groups/of others":             groupRefusesStrangers,
	"groups/shared":                groupIsShared,
	"groups/handed over":           groupHandsOverWithoutRepeats,
	"groups/silent member":         groupForgetsSilentMember,
	"groups/session too short":     groupRefusesShortSessions,
	"janitor/trims behind readers": janitorTrims,
}

func TestConformance(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		b, err := Open(Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Listener: Listener{Trusted: true}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		conforms(t, b.Addr())
	})
	for name, o := range map[string]kafkaserver.Options{
		"kafka":                    {Version: kafkaserver.Current},
		"kafka of before":          {Version: kafkaserver.Older},
		"kafka of several brokers": {Version: kafkaserver.Current, Brokers: 3},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "kafka" && testing.Short() {
				t.Skip("short: one broker of the current version only")
			}
			o.Properties = map[string]string{"group.min.session.timeout.ms": "1000"}
			conforms(t, kafkaserver.Start(t, o).Addrs()...)
		})
	}
}

// conforms holds the broker at addrs against all of the conformance.
func conforms(t *testing.T, addrs ...string) {
	for name, holds := range conformance {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := corner{T: t, ctx: deadline(t), addrs: addrs}
			c.prefix = strings.Map(func(r rune) rune {
				if strings.ContainsRune("/ '", r) {
					return '-'
				}
				return r
			}, name) + "."
			c.client = c.connect()
			c.admin = kadm.NewClient(c.client)
			holds(c)
		})
	}
}

// corner is what one test has of a broker: topics and groups of its own.
type corner struct {
	*testing.T
	ctx    context.Context
	addrs  []string
	prefix string // of topics and groups
	client *kgo.Client
	admin  *kadm.Client
}

// connect makes a client that ends with the test.
func (c corner) connect(opts ...kgo.Opt) *kgo.Client {
	c.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.addrs...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.MetadataMinAge(50 * time.Millisecond),
	}, opts...)...)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(client.CloseAllowingRebalance)
	return client
}

// topic creates a topic with settings, given as name, value, …, and waits for it.
func (c corner) topic(name string, partitions int32, settings ...string) string {
	c.Helper()
	configs := map[string]*string{}
	for i := 0; i < len(settings); i += 2 {
		configs[settings[i]] = &settings[i+1]
	}
	if _, err := c.admin.CreateTopic(c.ctx, partitions, -1, configs, c.prefix+name); err != nil {
		c.Fatal(err)
	}
	c.found(c.prefix + name)
	return c.prefix + name
}

// write appends values to partition 0 of a topic, each in a batch of its own.
func (c corner) write(topic string, values ...string) {
	c.Helper()
	for _, v := range values {
		if err := c.client.ProduceSync(c.ctx, &kgo.Record{Topic: topic, Value: []byte(v)}).FirstErr(); err != nil {
			c.Fatal(err)
		}
	}
}

// from makes a consumer of partition 0 that begins at an offset, and is told
// when that is out of range.
func (c corner) from(topic string, at kgo.Offset, opts ...kgo.Opt) *kgo.Client {
	c.Helper()
	return c.connect(append(opts, kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: at}}))...)
}

// read polls until there are n records.
func (c corner) read(consumer *kgo.Client, n int) (records []*kgo.Record) {
	c.Helper()
	for len(records) < n {
		fetches := consumer.PollFetches(c.ctx)
		if err := fetches.Err(); err != nil {
			c.Fatalf("read %d of %d records: %v", len(records), n, err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// values are the values of records.
func values(records []*kgo.Record) (values []string) {
	for _, r := range records {
		values = append(values, string(r.Value))
	}
	return values
}

// bounds are the start and the end of partition 0.
func (c corner) bounds(topic string) (start, end int64) {
	c.Helper()
	starts, err := c.admin.ListStartOffsets(c.ctx, topic)
	if err != nil {
		c.Fatal(err)
	}
	ends, err := c.admin.ListEndOffsets(c.ctx, topic)
	if err != nil {
		c.Fatal(err)
	}
	s, _ := starts.Lookup(topic, 0)
	e, _ := ends.Lookup(topic, 0)
	if s.Err != nil || e.Err != nil {
		c.Fatal(s.Err, e.Err)
	}
	return s.Offset, e.Offset
}
