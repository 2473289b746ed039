package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka's codes for what a client has no right to.
var (
	topicDenied   = kerr.TopicAuthorizationFailed.Code
	groupDenied   = kerr.GroupAuthorizationFailed.Code
	clusterDenied = kerr.ClusterAuthorizationFailed.Code
)

// refuse is the response by which Kafka refuses the whole of a request: every
// topic, group and setting that it names has the code.
func refuse(req kmsg.Request) kmsg.Response {
	resp := req.ResponseKind()
	switch r := resp.(type) {
	case *kmsg.SASLHandshakeResponse:
		r.ErrorCode = kerr.IllegalSaslState.Code
	case *kmsg.SASLAuthenticateResponse:
		r.ErrorCode = kerr.IllegalSaslState.Code
	default:
		if !refuseGroup(req, resp) && !refuseTopics(req, resp) && !refuseCluster(req, resp) {
			panic(fmt.Sprintf("broker: no refusal of %s", kmsg.NameForKey(req.Key())))
		}
	}
	return resp
}

// refuseGroup refuses what concerns a group.
func refuseGroup(req kmsg.Request, resp kmsg.Response) bool {
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		r.ErrorCode = groupDenied
	case *kmsg.HeartbeatResponse:
		r.ErrorCode = groupDenied
	case *kmsg.LeaveGroupResponse:
		r.ErrorCode = groupDenied
	case *kmsg.SyncGroupResponse:
		r.ErrorCode = groupDenied
	case *kmsg.AddOffsetsToTxnResponse:
		r.ErrorCode = groupDenied
	case *kmsg.OffsetDeleteResponse:
		r.ErrorCode = groupDenied
	case *kmsg.DeleteGroupsResponse:
		for _, group := range req.(*kmsg.DeleteGroupsRequest).Groups {
			g := kmsg.NewDeleteGroupsResponseGroup()
			g.Group, g.ErrorCode = group, groupDenied
			r.Groups = append(r.Groups, g)
		}
	case *kmsg.OffsetCommitResponse:
		for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
			t := kmsg.NewOffsetCommitResponseTopic()
			t.Topic = topic.Topic
			for _, partition := range topic.Partitions {
				p := kmsg.NewOffsetCommitResponseTopicPartition()
				p.Partition, p.ErrorCode = partition.Partition, groupDenied
				t.Partitions = append(t.Partitions, p)
			}
			r.Topics = append(r.Topics, t)
		}
	case *kmsg.TxnOffsetCommitResponse:
		for _, topic := range req.(*kmsg.TxnOffsetCommitRequest).Topics {
			t := kmsg.NewTxnOffsetCommitResponseTopic()
			t.Topic = topic.Topic
			for _, partition := range topic.Partitions {
				p := kmsg.NewTxnOffsetCommitResponseTopicPartition()
				p.Partition, p.ErrorCode = partition.Partition, groupDenied
				t.Partitions = append(t.Partitions, p)
			}
			r.Topics = append(r.Topics, t)
		}
	default:
		return false
	}
	return true
}

// refuseTopics refuses what concerns topics.
func refuseTopics(req kmsg.Request, resp kmsg.Response) bool {
	switch r := resp.(type) {
	case *kmsg.ProduceResponse:
		for _, topic := range req.(*kmsg.ProduceRequest).Topics {
			t := kmsg.NewProduceResponseTopic()
			t.Topic = topic.Topic
			for _, partition := range topic.Partitions {
				p := kmsg.NewProduceResponseTopicPartition()
				p.Partition, p.ErrorCode, p.BaseOffset = partition.Partition, topicDenied, -1
				t.Partitions = append(t.Partitions, p)
			}
			r.Topics = append(r.Topics, t)
		}
	case *kmsg.CreateTopicsResponse:
		for _, topic := range req.(*kmsg.CreateTopicsRequest).Topics {
			t := kmsg.NewCreateTopicsResponseTopic()
			t.Topic, t.ErrorCode = topic.Topic, topicDenied
			r.Topics = append(r.Topics, t)
		}
	case *kmsg.DeleteTopicsResponse:
		for _, topic := range req.(*kmsg.DeleteTopicsRequest).TopicNames {
			t := kmsg.NewDeleteTopicsResponseTopic()
			t.Topic, t.ErrorCode = &topic, topicDenied
			r.Topics = append(r.Topics, t)
		}
	case *kmsg.DeleteRecordsResponse:
		for _, topic := range req.(*kmsg.DeleteRecordsRequest).Topics {
			t := kmsg.NewDeleteRecordsResponseTopic()
			t.Topic = topic.Topic
			for _, partition := range topic.Partitions {
				p := kmsg.NewDeleteRecordsResponseTopicPartition()
				p.Partition, p.ErrorCode, p.LowWatermark = partition.Partition, topicDenied, -1
				t.Partitions = append(t.Partitions, p)
			}
			r.Topics = append(r.Topics, t)
		}
	case *kmsg.CreatePartitionsResponse:
		for _, topic := range req.(*kmsg.CreatePartitionsRequest).Topics {
			t := kmsg.NewCreatePartitionsResponseTopic()
			t.Topic, t.ErrorCode = topic.Topic, topicDenied
			r.Topics = append(r.Topics, t)
		}
	default:
		return false
	}
	return true
}

// refuseCluster refuses what concerns settings, rights or the broker itself.
func refuseCluster(req kmsg.Request, resp kmsg.Response) bool {
	switch r := resp.(type) {
	case *kmsg.AlterConfigsResponse:
		for _, resource := range req.(*kmsg.AlterConfigsRequest).Resources {
			c := kmsg.NewAlterConfigsResponseResource()
			c.ResourceType, c.ResourceName, c.ErrorCode = resource.ResourceType, resource.ResourceName, deniedConfig(resource.ResourceType)
			r.Resources = append(r.Resources, c)
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		for _, resource := range req.(*kmsg.IncrementalAlterConfigsRequest).Resources {
			c := kmsg.NewIncrementalAlterConfigsResponseResource()
			c.ResourceType, c.ResourceName, c.ErrorCode = resource.ResourceType, resource.ResourceName, deniedConfig(resource.ResourceType)
			r.Resources = append(r.Resources, c)
		}
	case *kmsg.CreateACLsResponse:
		for range req.(*kmsg.CreateACLsRequest).Creations {
			c := kmsg.NewCreateACLsResponseResult()
			c.ErrorCode = clusterDenied
			r.Results = append(r.Results, c)
		}
	case *kmsg.DeleteACLsResponse:
		for range req.(*kmsg.DeleteACLsRequest).Filters {
			c := kmsg.NewDeleteACLsResponseResult()
			c.ErrorCode = clusterDenied
			r.Results = append(r.Results, c)
		}
	case *kmsg.AlterReplicaLogDirsResponse:
		for _, dir := range req.(*kmsg.AlterReplicaLogDirsRequest).Dirs {
			for _, topic := range dir.Topics {
				t := kmsg.NewAlterReplicaLogDirsResponseTopic()
				t.Topic = topic.Topic
				for _, partition := range topic.Partitions {
					p := kmsg.NewAlterReplicaLogDirsResponseTopicPartition()
					p.Partition, p.ErrorCode = partition, clusterDenied
					t.Partitions = append(t.Partitions, p)
				}
				r.Topics = append(r.Topics, t)
			}
		}
	case *kmsg.ElectLeadersResponse:
		r.ErrorCode = clusterDenied // of version 1
		for _, topic := range req.(*kmsg.ElectLeadersRequest).Topics {
			t := kmsg.NewElectLeadersResponseTopic()
			t.Topic = topic.Topic
			for _, partition := range topic.Partitions {
				p := kmsg.NewElectLeadersResponseTopicPartition()
				p.Partition, p.ErrorCode = partition, clusterDenied
				t.Partitions = append(t.Partitions, p)
			}
			r.Topics = append(r.Topics, t)
		}
	case *kmsg.WriteTxnMarkersResponse:
		for _, marker := range req.(*kmsg.WriteTxnMarkersRequest).Markers {
			m := kmsg.NewWriteTxnMarkersResponseMarker()
			m.ProducerID = marker.ProducerID
			for _, topic := range marker.Topics {
				t := kmsg.NewWriteTxnMarkersResponseMarkerTopic()
				t.Topic = topic.Topic
				for _, partition := range topic.Partitions {
					p := kmsg.NewWriteTxnMarkersResponseMarkerTopicPartition()
					p.Partition, p.ErrorCode = partition, clusterDenied
					t.Partitions = append(t.Partitions, p)
				}
				m.Topics = append(m.Topics, t)
			}
			r.Markers = append(r.Markers, m)
		}
	case *kmsg.AlterClientQuotasResponse:
		for _, entry := range req.(*kmsg.AlterClientQuotasRequest).Entries {
			e := kmsg.NewAlterClientQuotasResponseEntry()
			e.ErrorCode = clusterDenied
			for _, entity := range entry.Entity {
				about := kmsg.NewAlterClientQuotasResponseEntryEntity()
				about.Type, about.Name = entity.Type, entity.Name
				e.Entity = append(e.Entity, about)
			}
			r.Entries = append(r.Entries, e)
		}
	default:
		return false
	}
	return true
}

func deniedConfig(of kmsg.ConfigResourceType) int16 {
	if of == kmsg.ConfigResourceTypeTopic {
		return topicDenied
	}
	return clusterDenied
}

// refuseTransaction refuses partitions for a transaction: as with Kafka none is
// added when one is not allowed.
func (d *door) refuseTransaction(req *kmsg.AddPartitionsToTxnRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
	for _, topic := range req.Topics {
		t := kmsg.NewAddPartitionsToTxnResponseTopic()
		t.Topic = topic.Topic
		for _, partition := range topic.Partitions {
			p := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			p.Partition, p.ErrorCode = partition, kerr.OperationNotAttempted.Code
			if !d.options.writable(topic.Topic) {
				p.ErrorCode = topicDenied
			}
			t.Partitions = append(t.Partitions, p)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}
