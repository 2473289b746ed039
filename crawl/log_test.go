package crawl_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/IBM/sarama"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/topics"
)

// outsider is a Kafka client that shares no code with the crawl's own.
func outsider(t *testing.T, addr string) sarama.Client {
	t.Helper()
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	client, err := sarama.NewClient([]string{addr}, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// reopened is the broker of a crawl that does not run, for an outsider.
func reopened(t *testing.T, o crawl.Options) sarama.Client {
	t.Helper()
	b, err := broker.Open(broker.Options{Dir: filepath.Join(o.Dir, "broker"), Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close the broker: %v", err)
		}
	})
	return outsider(t, b.Addr())
}

// readTopic reads everything that a topic holds.
func readTopic(t *testing.T, client sarama.Client, topic string) (records []*sarama.ConsumerMessage) {
	t.Helper()
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	partitions, err := client.Partitions(topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range partitions {
		start, err := client.GetOffset(topic, p, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		end, err := client.GetOffset(topic, p, sarama.OffsetNewest)
		if err != nil {
			t.Fatal(err)
		}
		if start == end {
			continue
		}
		part, err := consumer.ConsumePartition(topic, p, start)
		if err != nil {
			t.Fatal(err)
		}
		for at := start; at < end; {
			select {
			case m := <-part.Messages():
				records = append(records, m)
				at = m.Offset + 1
			case err := <-part.Errors():
				t.Fatal(err)
			case <-t.Context().Done():
				t.Fatalf("%s/%d ends before offset %d", topic, p, end)
			}
		}
		part.Close()
	}
	return records
}

// write writes values to partition 0 of a topic.
func write(t *testing.T, client sarama.Client, topic string, values ...[]byte) {
	t.Helper()
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	all, err := client.Partitions(topic)
	if err != nil {
		t.Fatal(err)
	}
	const domain = "127.1.0.1"
	for _, v := range values {
		m := &sarama.ProducerMessage{Topic: topic, Partition: topics.Partition(domain, int32(len(all))), Key: sarama.StringEncoder(domain), Value: sarama.ByteEncoder(v)}
		if _, _, err := producer.SendMessage(m); err != nil {
			t.Fatalf("write to %s: %v", topic, err)
		}
	}
}

// freePort is a loopback address without a listener.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
