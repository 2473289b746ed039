package topics_test

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/topics"
)

// A broker learns of topics with a delay. Its first answers, in Metadata and in
// DescribeConfigs, are that the topics do not exist. At first it also has no coordinator of
// groups.
func TestBrokersMayHearLate(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, admin := deadline(t), kadm.NewClient(client)
	spec := topics.Spec{Crawl: "weft", Partitions: 2, Replication: 1}
	if _, err := topics.Create(ctx, admin, spec); err != nil {
		t.Fatal(err)
	}

	// In a cluster without groups, only the third question finds a coordinator.
	without := 0
	const findCoordinator = 10
	c.ControlKey(findCoordinator, func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := request.(*kmsg.FindCoordinatorRequest)
		if without == 2 {
			return nil, nil, false
		}
		without++
		response := asked.ResponseKind().(*kmsg.FindCoordinatorResponse)
		for _, key := range asked.CoordinatorKeys {
			none := kmsg.NewFindCoordinatorResponseCoordinator()
			none.Key, none.NodeID, none.ErrorCode = key, -1, kerr.CoordinatorNotAvailable.Code
			response.Coordinators = append(response.Coordinators, none)
		}
		return response, nil, true
	})
	if _, err := topics.Create(ctx, admin, topics.Spec{Crawl: "other", Partitions: 2, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.FetchOffsets(ctx, "other.fetch"); errors.Is(err, kerr.CoordinatorNotAvailable) || without != 2 {
		t.Errorf("commits after %d answers that there is no coordinator: %v", without, err)
	}

	// Answers are made by the cluster's one goroutine.
	unheard := map[int16]int{}
	const metadata, describeConfigs = 3, 32
	c.ControlKey(metadata, func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := request.(*kmsg.MetadataRequest)
		if len(asked.Topics) == 0 || unheard[metadata] == 2 {
			return nil, nil, false
		}
		unheard[metadata]++
		response := asked.ResponseKind().(*kmsg.MetadataResponse)
		for _, topic := range asked.Topics {
			unknown := kmsg.NewMetadataResponseTopic()
			unknown.Topic, unknown.ErrorCode = topic.Topic, kerr.UnknownTopicOrPartition.Code
			response.Topics = append(response.Topics, unknown)
		}
		return response, nil, true
	})
	c.ControlKey(describeConfigs, func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := request.(*kmsg.DescribeConfigsRequest)
		if unheard[describeConfigs] == 2 {
			return nil, nil, false
		}
		unheard[describeConfigs]++
		response := asked.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, resource := range asked.Resources {
			unknown := kmsg.NewDescribeConfigsResponseResource()
			unknown.ResourceName, unknown.ResourceType = resource.ResourceName, resource.ResourceType
			unknown.ErrorCode = kerr.UnknownTopicOrPartition.Code
			response.Resources = append(response.Resources, unknown)
		}
		return response, nil, true
	})
	if err := topics.Check(ctx, admin, topics.Loop("weft"), 2); err != nil {
		t.Errorf("check: %v", err)
	}
	if unheard[metadata] != 2 || unheard[describeConfigs] != 2 {
		t.Errorf("asked too rarely: %v", unheard)
	}
	if err := topics.Check(ctx, admin, topics.Loop("none"), 2); !errors.Is(err, topics.ErrMissing) {
		t.Errorf("topics that nobody created: %v", err)
	}
}
