package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// decision is what becomes of a kind of request when a stranger makes it.
type decision int

const (
	// notOffered kinds end the connection, as kinds do that a broker does not
	// know: they are between brokers, or exist in flexible versions only.
	notOffered decision = iota
	// allowed kinds only read, or change what belongs to strangers: groups,
	// transactions and producers of their own.
	allowed
	// byTopic kinds are allowed for the topics that strangers may write.
	byTopic
	// byGroup kinds are allowed for the groups that are not a crawl's.
	byGroup
	// bounded is Fetch: allowed, within bounds of size and time.
	bounded
	// refused kinds change topics, settings or rights.
	refused
	// atDoor kinds are answered by the door itself.
	atDoor
)

// decisions has the kinds that are offered. docs/security.md has the same table.
var decisions = map[kmsg.Key]decision{
	kmsg.Produce:                 byTopic,
	kmsg.Fetch:                   bounded,
	kmsg.ListOffsets:             allowed,
	kmsg.Metadata:                allowed,
	kmsg.OffsetCommit:            byGroup,
	kmsg.OffsetFetch:             allowed,
	kmsg.FindCoordinator:         allowed,
	kmsg.JoinGroup:               byGroup,
	kmsg.Heartbeat:               byGroup,
	kmsg.LeaveGroup:              byGroup,
	kmsg.SyncGroup:               byGroup,
	kmsg.DescribeGroups:          allowed,
	kmsg.ListGroups:              allowed,
	kmsg.SASLHandshake:           atDoor,
	kmsg.ApiVersions:             atDoor,
	kmsg.CreateTopics:            refused,
	kmsg.DeleteTopics:            refused,
	kmsg.DeleteRecords:           refused,
	kmsg.InitProducerID:          allowed,
	kmsg.OffsetForLeaderEpoch:    allowed,
	kmsg.AddPartitionsToTxn:      byTopic,
	kmsg.AddOffsetsToTxn:         byGroup,
	kmsg.EndTxn:                  allowed,
	kmsg.WriteTxnMarkers:         refused,
	kmsg.TxnOffsetCommit:         byGroup,
	kmsg.DescribeACLs:            allowed,
	kmsg.CreateACLs:              refused,
	kmsg.DeleteACLs:              refused,
	kmsg.DescribeConfigs:         allowed,
	kmsg.AlterConfigs:            refused,
	kmsg.AlterReplicaLogDirs:     refused,
	kmsg.DescribeLogDirs:         allowed,
	kmsg.SASLAuthenticate:        atDoor,
	kmsg.CreatePartitions:        refused,
	kmsg.DeleteGroups:            byGroup,
	kmsg.ElectLeaders:            refused,
	kmsg.IncrementalAlterConfigs: refused,
	kmsg.OffsetDelete:            byGroup,
	kmsg.DescribeClientQuotas:    allowed,
	kmsg.AlterClientQuotas:       refused,
}

// offer is the versions of each kind that a door speaks with strangers.
type offer map[int16]versions

type versions struct{ least, most int16 }

// newOffer is the part of what the broker speaks that strangers may.
//
// Flexible versions (KIP-482) are left out. In them a frame of twenty bytes can
// announce four billion tagged fields, and kmsg, with which the broker reads
// requests, counts them all: a minute of a core for each. The versions that are
// left are those of Kafka 2.3, which all clients speak.
//
// A trusted client may have all of it. The door itself never reads a flexible
// version.
func newOffer(broker kmsg.ApiVersionsResponse, trusted bool) offer {
	o := offer{}
	for _, k := range broker.ApiKeys {
		decision := decisions[kmsg.Key(k.ApiKey)]
		if trusted && decision != atDoor {
			o[k.ApiKey] = versions{k.MinVersion, k.MaxVersion}
		}
		if trusted && decision != atDoor || decision == notOffered {
			continue
		}
		req := kmsg.RequestForKey(k.ApiKey)
		for v := min(k.MaxVersion, req.MaxVersion()); v >= k.MinVersion; v-- {
			if req.SetVersion(v); !req.IsFlexible() {
				o[k.ApiKey] = versions{k.MinVersion, v}
				break
			}
		}
	}
	// Of the door's own answer there may be a flexible version.
	o[int16(kmsg.ApiVersions)] = versions{0, apiVersionsMost}
	return o
}

// apiVersionsMost is the highest version of ApiVersions that the door answers.
const apiVersionsMost = 3

// Bounds of a stranger's Fetch. What it reads is held in memory until the
// stranger has taken it.
const (
	fetchBytes  = 4 << 20
	fetchMillis = 30_000
)

// verdict says what becomes of a request.
type verdict struct {
	forward frame // what the broker gets; nil: nothing
	answer  answer
	silent  bool   // there is no answer
	refused string // what was refused, in words; may be empty
}

// judge decides about a stranger's request. An error ends the connection.
func (d *door) judge(f frame) (verdict, error) {
	key := kmsg.Key(f.key())
	has, ok := d.offered[f.key()]
	if key == kmsg.ApiVersions {
		return verdict{answer: answer{whole: d.offered.answer(f)}}, nil
	}
	if v := f.version(); !ok || v < has.least || v > has.most {
		return verdict{}, fmt.Errorf("%w: %s version %d", errUnknown, key.Name(), v)
	}
	if decisions[key] == allowed {
		return verdict{forward: f}, nil
	}
	req, err := f.decode()
	if err != nil {
		return verdict{}, err
	}
	switch decisions[key] {
	case byTopic:
		return d.judgeTopics(f, req)
	case byGroup:
		return d.judgeGroups(f, req)
	case bounded:
		return boundFetch(f, req.(*kmsg.FetchRequest))
	case refused:
		return verdict{answer: answer{whole: f.answer(refuse(req))}, refused: key.Name()}, nil
	case atDoor: // SASL, which comes before everything else or not at all
		return verdict{answer: answer{whole: f.answer(refuse(req))}}, nil
	}
	panic(fmt.Sprintf("broker: no decision about %s", key.Name()))
}

// answer answers ApiVersions. A version that is not offered gets version 0, by
// which clients ask again (KIP-511).
func (o offer) answer(f frame) []byte {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.Version = f.version()
	if resp.Version < 0 || resp.Version > apiVersionsMost {
		resp.Version, resp.ErrorCode = 0, kerr.UnsupportedVersion.Code
	}
	for key := range int16(kmsg.MaxKey + 1) {
		if has, ok := o[key]; ok {
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MinVersion, k.MaxVersion = key, has.least, has.most
			resp.ApiKeys = append(resp.ApiKeys, k)
		}
	}
	return f.answer(resp)
}

// boundFetch makes a Fetch ask for no more than its bounds.
func boundFetch(f frame, req *kmsg.FetchRequest) (verdict, error) {
	if req.MaxBytes <= fetchBytes && req.MaxWaitMillis <= fetchMillis && req.ReplicaID == -1 {
		return verdict{forward: f}, nil
	}
	req.MaxBytes = min(req.MaxBytes, fetchBytes)
	req.MaxWaitMillis = min(req.MaxWaitMillis, fetchMillis)
	req.ReplicaID = -1 // a consumer, not a broker
	forward, err := f.with(req)
	return verdict{forward: forward}, err
}

// judgeGroups refuses what concerns the groups of a crawl.
func (d *door) judgeGroups(f frame, req kmsg.Request) (verdict, error) {
	if req, ok := req.(*kmsg.DeleteGroupsRequest); ok {
		return d.deleteGroups(f, req)
	}
	group := groupOf(req)
	if !d.options.reserved(group) {
		return verdict{forward: f}, nil
	}
	return verdict{
		answer:  answer{whole: f.answer(refuse(req))},
		refused: fmt.Sprintf("%s of group %s", kmsg.NameForKey(f.key()), group),
	}, nil
}

func groupOf(req kmsg.Request) string {
	switch r := req.(type) {
	case *kmsg.OffsetCommitRequest:
		return r.Group
	case *kmsg.JoinGroupRequest:
		return r.Group
	case *kmsg.HeartbeatRequest:
		return r.Group
	case *kmsg.LeaveGroupRequest:
		return r.Group
	case *kmsg.SyncGroupRequest:
		return r.Group
	case *kmsg.AddOffsetsToTxnRequest:
		return r.Group
	case *kmsg.TxnOffsetCommitRequest:
		return r.Group
	case *kmsg.OffsetDeleteRequest:
		return r.Group
	}
	panic(fmt.Sprintf("broker: %s has no group", kmsg.NameForKey(req.Key())))
}

// deleteGroups deletes the groups that are not a crawl's.
func (d *door) deleteGroups(f frame, req *kmsg.DeleteGroupsRequest) (verdict, error) {
	var theirs []string
	denied := kmsg.NewPtrDeleteGroupsRequest()
	denied.Version = req.Version
	for _, group := range req.Groups {
		if d.options.reserved(group) {
			denied.Groups = append(denied.Groups, group)
		} else {
			theirs = append(theirs, group)
		}
	}
	refusal := refuse(denied).(*kmsg.DeleteGroupsResponse)
	v := verdict{}
	switch {
	case len(denied.Groups) == 0:
		return verdict{forward: f}, nil
	case len(theirs) == 0:
		v.answer.whole = f.answer(refusal)
	default:
		req.Groups = theirs
		forward, err := f.with(req)
		if err != nil {
			return verdict{}, err
		}
		v.forward = forward
		v.answer.merge = merging(f, req, func(resp *kmsg.DeleteGroupsResponse) {
			resp.Groups = append(resp.Groups, refusal.Groups...)
		})
	}
	v.refused = "DeleteGroups of group " + denied.Groups[0]
	return v, nil
}

// judgeTopics refuses to write to topics that strangers may not write.
func (d *door) judgeTopics(f frame, req kmsg.Request) (verdict, error) {
	if req, ok := req.(*kmsg.ProduceRequest); ok {
		return d.produce(f, req)
	}
	add := req.(*kmsg.AddPartitionsToTxnRequest)
	for _, topic := range add.Topics {
		if !d.options.writable(topic.Topic) {
			return verdict{
				answer:  answer{whole: f.answer(d.refuseTransaction(add))},
				refused: "AddPartitionsToTxn of topic " + topic.Topic,
			}, nil
		}
	}
	return verdict{forward: f}, nil
}

// produce writes to the topics that strangers may write.
func (d *door) produce(f frame, req *kmsg.ProduceRequest) (verdict, error) {
	var theirs []kmsg.ProduceRequestTopic
	denied := kmsg.NewPtrProduceRequest()
	denied.Version = req.Version
	for _, topic := range req.Topics {
		if d.options.writable(topic.Topic) {
			theirs = append(theirs, topic)
		} else {
			denied.Topics = append(denied.Topics, topic)
		}
	}
	v := verdict{silent: req.Acks == 0}
	if len(denied.Topics) == 0 {
		v.forward = f
		return v, nil
	}
	v.refused = "Produce to topic " + denied.Topics[0].Topic
	if req.Acks == 0 {
		// A producer that waits for no answer learns of an error by the end of
		// its connection, as with Kafka.
		d.tell("a client was refused", "", v.refused)
		return verdict{}, fmt.Errorf("%w: %s", errUnknown, v.refused)
	}
	refusal := refuse(denied).(*kmsg.ProduceResponse)
	if len(theirs) == 0 {
		v.answer.whole = f.answer(refusal)
		return v, nil
	}
	req.Topics = theirs
	forward, err := f.with(req)
	if err != nil {
		return verdict{}, err
	}
	v.forward = forward
	v.answer.merge = merging(f, req, func(resp *kmsg.ProduceResponse) {
		resp.Topics = append(resp.Topics, refusal.Topics...)
	})
	return v, nil
}

// merging returns what adds to the broker's response to a request.
func merging[R kmsg.Response](f frame, req kmsg.Request, add func(R)) func([]byte) ([]byte, error) {
	return func(body []byte) ([]byte, error) {
		resp := req.ResponseKind()
		const correlation = 4
		if len(body) < correlation {
			return nil, fmt.Errorf("the broker's answer has %d bytes", len(body))
		}
		if err := resp.ReadFrom(body[correlation:]); err != nil {
			return nil, fmt.Errorf("read the broker's answer: %w", err)
		}
		add(resp.(R))
		return f.answer(resp), nil
	}
}
