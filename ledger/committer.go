package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// committer commits positions to a group. It makes the requests itself, because the
// client commits nothing while it waits for other members to join. That may take a
// session when a member is dead, and fetchers wait for what schedule commits.
type committer struct {
	client          *kgo.Client
	group, instance string

	flushing sync.Mutex // one request at a time

	mu  sync.Mutex
	due map[topicPartition]int64
	// sent are the positions in the request under way.
	sent map[topicPartition]int64
}

type topicPartition struct {
	topic     string
	partition int32
}

// mark books that the group goes on at next in a partition of an input.
func (c *committer) mark(topic string, partition int32, next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due[topicPartition{topic, partition}] = next
}

// forget drops the positions of partitions of that number, also those in the request under way.
// If that request fails, a second one would be of a later generation, and could undo commits of
// the next owner.
func (c *committer) forget(partition int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ours := func(at topicPartition, _ int64) bool { return at.partition == partition }
	maps.DeleteFunc(c.due, ours)
	maps.DeleteFunc(c.sent, ours)
}

// flush commits what is due, within commitTimeout. A position whose commit fails
// stays due, unless it was marked again or forgotten.
func (c *committer) flush(ctx context.Context) error {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	c.mu.Lock()
	if len(c.due) == 0 {
		c.mu.Unlock()
		return nil
	}
	c.sent, c.due = c.due, map[topicPartition]int64{}
	request := c.request(c.sent)
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	resp, err := request.RequestWith(ctx, c.client)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		for at := range c.sent {
			c.again(at)
		}
		return fmt.Errorf("commit positions of %s: %w", c.group, err)
	}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			if failed := kerr.ErrorForCode(p.ErrorCode); failed != nil {
				c.again(topicPartition{topic.Topic, p.Partition})
				err = fmt.Errorf("commit position of %s in %s/%d: %w", c.group, topic.Topic, p.Partition, failed)
			}
		}
	}
	return err
}

// again makes a position due that could not be committed. mu is held.
func (c *committer) again(at topicPartition) {
	next, kept := c.sent[at]
	if _, marked := c.due[at]; kept && !marked {
		c.due[at] = next
	}
}

// commitTimeout bounds one request, because a partition that is given up waits for
// it.
const commitTimeout = 2 * time.Second

// request is the commit of a member in its present generation. A broker refuses it
// when the group has gone on without the member.
func (c *committer) request(next map[topicPartition]int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = c.group
	req.MemberID, req.Generation = c.client.GroupMetadata()
	if c.instance != "" {
		req.InstanceID = &c.instance
	}
	for at, offset := range next {
		i := slices.IndexFunc(req.Topics, func(t kmsg.OffsetCommitRequestTopic) bool { return t.Topic == at.topic })
		if i < 0 {
			i = len(req.Topics)
			topic := kmsg.NewOffsetCommitRequestTopic()
			topic.Topic = at.topic
			req.Topics = append(req.Topics, topic)
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = at.partition, offset
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	return req
}
