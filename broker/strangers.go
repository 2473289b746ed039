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
	ours, theirs := divide(req.Groups, d.options.reserved)
	if len(ours) == 0 {
		return verdict{forward: f}, nil
	}
	denied := kmsg.NewPtrDeleteGroupsRequest()
	denied.Version, denied.Groups = req.Version, ours
	req.Groups = theirs
	v, err := refusePart(f, req, len(theirs), denied, func(resp, refusal *kmsg.DeleteGroupsResponse) {
		resp.Groups = append(resp.Groups, refusal.Groups...)
	})
	v.refused = "DeleteGroups of group " + ours[0]
	return v, err
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
	writable, others := divide(req.Topics, func(t kmsg.ProduceRequestTopic) bool { return d.options.writable(t.Topic) })
	if len(others) == 0 {
		return verdict{forward: f, silent: req.Acks == 0}, nil
	}
	refused := "Produce to topic " + others[0].Topic
	if req.Acks == 0 {
		// A producer that waits for no answer learns of an error by the end of
		// its connection, as with Kafka.
		d.tell("a client was refused", "", refused)
		return verdict{}, fmt.Errorf("%w: %s", errUnknown, refused)
	}
	denied := kmsg.NewPtrProduceRequest()
	denied.Version, denied.Topics = req.Version, others
	req.Topics = writable
	v, err := refusePart(f, req, len(writable), denied, func(resp, refusal *kmsg.ProduceResponse) {
		resp.Topics = append(resp.Topics, refusal.Topics...)
	})
	v.refused = refused
	return v, err
}

// divide returns the items that are chosen, and the others.
func divide[T any](items []T, chosen func(T) bool) (in, out []T) {
	for _, item := range items {
		if chosen(item) {
			in = append(in, item)
		} else {
			out = append(out, item)
		}
	}
	return in, out
}

// refusePart forwards allowed, which has n items, and refuses denied, which has
// the other items of the same request. add joins the two responses. If allowed
// has no items the broker is not asked.
func refusePart[R kmsg.Response](f frame, allowed kmsg.Request, n int, denied kmsg.Request, add func(resp, refusal R)) (verdict, error) {
	refusal := refuse(denied).(R)
	if n == 0 {
		return verdict{answer: answer{whole: f.answer(refusal)}}, nil
	}
	forward, err := f.with(allowed)
	if err != nil {
		return verdict{}, err
	}
	merge := merging(f, allowed, func(resp R) { add(resp, refusal) })
	return verdict{forward: forward, answer: answer{merge: merge}}, nil
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
