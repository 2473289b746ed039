package broker

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// rawMember is a member of a group that says what it is told to say and nothing
// else: no client sends its heartbeats.
type rawMember struct {
	c          corner
	group, id  string
	generation int32
}

// join joins a group as its only member and is assigned partition 0 of a topic.
func (c corner) join(group, topic string, session time.Duration) rawMember {
	c.Helper()
	m, err := c.tryJoin(group, topic, session)
	if err != nil {
		c.Fatalf("join %s: %v", group, err)
	}
	return m
}

func (c corner) tryJoin(group, topic string, session time.Duration) (rawMember, error) {
	c.Helper()
	metadata := kmsg.NewConsumerMemberMetadata()
	metadata.Topics = []string{topic}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = c.prefix+group, "consumer"
	join.SessionTimeoutMillis = int32(session.Milliseconds())
	join.RebalanceTimeoutMillis = 1000
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "cooperative-sticky", Metadata: metadata.AppendTo(nil)}}
	var joined *kmsg.JoinGroupResponse
	for {
		var err error
		if joined, err = join.RequestWith(c.ctx, c.client); err != nil {
			c.Fatal(err)
		}
		err = kerr.ErrorForCode(joined.ErrorCode)
		if errors.Is(err, kerr.MemberIDRequired) {
			join.MemberID = joined.MemberID
			continue
		}
		if err != nil {
			return rawMember{}, err
		}
		break
	}
	assignment := kmsg.NewConsumerMemberAssignment()
	assignment.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: []int32{0}}}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = join.Group, joined.Generation, joined.MemberID
	sync.ProtocolType, sync.Protocol = kmsg.StringPtr("consumer"), joined.Protocol
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: assignment.AppendTo(nil)}}
	synced, err := sync.RequestWith(c.ctx, c.client)
	if err != nil {
		c.Fatal(err)
	}
	return rawMember{c, join.Group, joined.MemberID, joined.Generation}, kerr.ErrorForCode(synced.ErrorCode)
}

func (m rawMember) heartbeat() error {
	m.c.Helper()
	request := kmsg.NewPtrHeartbeatRequest()
	request.Group, request.Generation, request.MemberID = m.group, m.generation, m.id
	response, err := request.RequestWith(m.c.ctx, m.c.client)
	if err != nil {
		m.c.Fatal(err)
	}
	return kerr.ErrorForCode(response.ErrorCode)
}

// commit commits an offset of partition 0.
func (m rawMember) commit(topic string, at int64) error {
	m.c.Helper()
	listed, err := m.c.admin.ListTopics(m.c.ctx, topic)
	if err != nil {
		m.c.Fatal(err)
	}
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset = at
	of := kmsg.NewOffsetCommitRequestTopic()
	of.Topic, of.TopicID = topic, listed[topic].ID
	of.Partitions = append(of.Partitions, partition)
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.Generation, request.MemberID = m.group, m.generation, m.id
	request.Topics = append(request.Topics, of)
	response, err := request.RequestWith(m.c.ctx, m.c.client)
	if err != nil {
		m.c.Fatal(err)
	}
	return kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
}
