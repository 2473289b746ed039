package ledger

import (
	"fmt"
	"slices"

	"github.com/IBM/sarama"
)

// topicManager is what goka asks about topics, answered by a client of our own:
// goka.NewTopicManager leaves its client open when its first look at a broker
// fails (goka v1.1.16). It creates nothing. The processors of all partitions
// share it, so Close is not theirs: the runner closes the client.
type topicManager struct {
	client sarama.Client
	run    *runner
}

// Partitions lists a topic's partitions. It asks for all topics, because a broker
// may create one that it is asked for by name.
func (m topicManager) Partitions(topic string) ([]int32, error) {
	if err := m.client.RefreshMetadata(); err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	topics, err := m.client.Topics()
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	if !slices.Contains(topics, topic) {
		return nil, fmt.Errorf("there is no topic %s", topic)
	}
	return m.client.Partitions(topic)
}

// EnsureTopicExists is an error if there is no such topic, or one with another
// number of partitions.
func (m topicManager) EnsureTopicExists(topic string, partitions, _ int, _ map[string]string) error {
	have, err := m.Partitions(topic)
	if err == nil && len(have) != partitions {
		err = fmt.Errorf("topic %s has %d partitions, not %d", topic, len(have), partitions)
	}
	return err
}

// EnsureTableExists and EnsureStreamExists are the same.

func (m topicManager) EnsureTableExists(topic string, partitions int) error {
	return m.EnsureTopicExists(topic, partitions, 0, nil)
}

func (m topicManager) EnsureStreamExists(topic string, partitions int) error {
	return m.EnsureTopicExists(topic, partitions, 0, nil)
}

func (topicManager) Close() error { return nil }
