package topics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/test/kafkaserver"
)

// The tests that talk to a broker, once more with Apache Kafka, whose brokers know
// new topics a moment after they were created. Otherwise these tests run on a broker
// in memory (cluster).
func TestOnKafka(t *testing.T) {
	c := kafkaserver.Start(t, kafkaserver.Options{})
	for name, test := range map[string]func(*testing.T){
		"create and check":             TestCreateTwiceAndCheck,
		"begin again":                  TestDeletedCrawlThatRuns,
		"limits":                       TestProducerFillsEachTopicToItsLimit,
		"partitions":                   TestManualProducerKeepsPartition,
		"definition":                   TestDefinitionLastRecordHolds,
		"pins":                         TestPinnedFieldsNeverChange,
		"pin race":                     TestPinRace,
		"control":                      TestControlStandsBesideTheDefinition,
		"control, to older programs":   TestControlIsADefinitionToOlderPrograms,
		"control, of no crawl":         TestControlWithoutACrawl,
		"stop":                         TestStopIsAnOrderToThoseWhoRun,
		"alter":                        TestAlter,
		"import":                       TestNobodyTakesHalfAnImportForACrawl,
		"definition that is corrupted": TestCorruptDefinitionIsNamed,
	} {
		t.Run(name, func(t *testing.T) {
			kafka = c
			defer func() { kafka = nil }()
			test(t)
		})
	}
}

// kafka is the cluster on which TestOnKafka runs the test of the moment; nil:
// none.
var kafka *kafkaserver.Cluster

// emptied connects to Kafka and deletes the topics of earlier tests.
func emptied(t *testing.T) (*kadm.Client, []kgo.Opt) {
	t.Helper()
	ctx := deadline(t)
	options := []kgo.Opt{kgo.SeedBrokers(kafka.Addrs()...), kgo.MetadataMinAge(50 * time.Millisecond), kgo.UnknownTopicRetries(100)}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		listed, err := admin.ListTopics(kadm.WithAuthorizedOps(ctx)) // uncached
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, name := range listed.Names() {
			if strings.HasPrefix(name, "weft.") {
				left = append(left, name)
			}
		}
		if len(left) == 0 {
			return admin, options
		}
		if _, err := admin.DeleteTopics(ctx, left...); err != nil {
			t.Fatal(err)
		}
		<-ticker.C
	}
}
