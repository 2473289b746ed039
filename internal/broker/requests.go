package broker

import (
	"fmt"
	"reflect"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// decision says what happens to a kind of request from a client that is not a member.
type decision int

const (
	// notOffered kinds end the connection, like unknown kinds: they are for brokers, or
	// have only flexible versions.
	notOffered decision = iota
	// allowed kinds only read, or change things of the client: its groups, transactions
	// and producers.
	allowed
	// byTopic kinds are allowed for the topics that clients may write.
	byTopic
	// byGroup kinds are allowed for groups that are not of a crawl.
	byGroup
	// bounded is Fetch: allowed, within bounds of size and time.
	bounded
	// refused kinds change topics, settings or rights.
	refused
	// byListener kinds are answered by the listener itself.
	byListener
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
	kmsg.SASLHandshake:           byListener,
	kmsg.ApiVersions:             byListener,
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
	kmsg.SASLAuthenticate:        byListener,
	kmsg.CreatePartitions:        refused,
	kmsg.DeleteGroups:            byGroup,
	kmsg.ElectLeaders:            refused,
	kmsg.IncrementalAlterConfigs: refused,
	kmsg.OffsetDelete:            byGroup,
	kmsg.DescribeClientQuotas:    allowed,
	kmsg.AlterClientQuotas:       refused,
}

// offer has the versions of each kind that a listener offers to clients.
type offer map[int16]versions

type versions struct{ least, most int16 }

// newOffer is the part of the broker's versions that clients may use.
//
// Flexible versions (KIP-482) are left out. In them a frame of twenty bytes can announce four
// billion tagged fields, and kmsg, with which the broker reads requests, counts them all: a
// minute of a core for each. The other versions come from Kafka 2.3, which all clients speak.
//
// A trusted client may use all versions. The listener itself never reads a flexible version.
func newOffer(broker kmsg.ApiVersionsResponse, trusted bool) offer {
	o := offer{}
	for _, k := range broker.ApiKeys {
		decision := decisions[kmsg.Key(k.ApiKey)]
		if trusted && decision != byListener {
			o[k.ApiKey] = versions{k.MinVersion, k.MaxVersion}
		}
		if trusted && decision != byListener || decision == notOffered {
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
	// The listener's own answer may have a flexible version.
	o[int16(kmsg.ApiVersions)] = versions{0, apiVersionsMost}
	// librdkafka takes SASL for unsupported without version 0, and then uses version 1.
	handshake := o[int16(kmsg.SASLHandshake)]
	o[int16(kmsg.SASLHandshake)] = versions{0, handshake.most}
	return o
}

// apiVersionsMost is the highest version of ApiVersions that the listener answers.
const apiVersionsMost = 3

// Bounds of a client's Fetch. Its records are in memory until the client has read them.
const (
	fetchBytes  = 4 << 20
	fetchMillis = 30_000
)

type verdict struct {
	forward frame // for the broker; nil: the broker gets nothing
	answer  answer
	silent  bool   // there is no answer
	refused string // description of the refused part; may be empty
}

// refused is a verdict without the broker.
func (f frame) refused(resp kmsg.Response, what string) verdict {
	return verdict{answer: answer{whole: f.answer(resp)}, refused: what}
}

// judge decides about a client's request. An error ends the connection.
func (d *clientListener) judge(f frame) (verdict, error) {
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
		return f.refused(refuse(req), key.Name()), nil
	case byListener: // SASL, which comes before everything else or not at all
		return f.refused(refuse(req), ""), nil
	}
	panic(fmt.Sprintf("broker: no decision about %s", key.Name()))
}

// answer answers ApiVersions. The answer to a version that is not offered is version 0, after
// which clients try again (KIP-511).
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

// judgeGroups refuses requests for the groups of a crawl.
func (d *clientListener) judgeGroups(f frame, req kmsg.Request) (verdict, error) {
	if req, ok := req.(*kmsg.DeleteGroupsRequest); ok {
		return d.deleteGroups(f, req)
	}
	group := reflect.ValueOf(req).Elem().FieldByName("Group").String()
	if !d.options.reserved(group) {
		return verdict{forward: f}, nil
	}
	return f.refused(refuse(req), fmt.Sprintf("%s of group %s", kmsg.NameForKey(f.key()), group)), nil
}

// deleteGroups deletes the groups that are not of a crawl.
func (d *clientListener) deleteGroups(f frame, req *kmsg.DeleteGroupsRequest) (verdict, error) {
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

// judgeTopics refuses to write to topics that clients may not write.
func (d *clientListener) judgeTopics(f frame, req kmsg.Request) (verdict, error) {
	if req, ok := req.(*kmsg.ProduceRequest); ok {
		return d.produce(f, req)
	}
	add := req.(*kmsg.AddPartitionsToTxnRequest)
	for _, topic := range add.Topics {
		if !d.options.writable(topic.Topic) {
			return f.refused(d.refuseTransaction(add), "AddPartitionsToTxn of topic "+topic.Topic), nil
		}
	}
	return verdict{forward: f}, nil
}

// produce writes to the topics that clients may write.
func (d *clientListener) produce(f frame, req *kmsg.ProduceRequest) (verdict, error) {
	writable, others := divide(req.Topics, func(t kmsg.ProduceRequestTopic) bool { return d.options.writable(t.Topic) })
	if len(others) == 0 {
		return verdict{forward: f, silent: req.Acks == 0}, nil
	}
	refused := "Produce to topic " + others[0].Topic
	if req.Acks == 0 {
		// A producer that expects no answer learns about an error by the end of its
		// connection, as with Kafka.
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

// refusePart forwards allowed, which has n items, and refuses denied, which has the other
// items of the same request. add joins the two responses. Without allowed items nothing is
// forwarded.
func refusePart[R kmsg.Response](f frame, allowed kmsg.Request, n int, denied kmsg.Request, add func(resp, refusal R)) (verdict, error) {
	refusal := refuse(denied).(R)
	if n == 0 {
		return f.refused(refusal, ""), nil
	}
	forward, err := f.with(allowed)
	if err != nil {
		return verdict{}, err
	}
	return verdict{forward: forward, answer: answer{merge: func(body []byte) ([]byte, error) {
		resp := allowed.ResponseKind()
		const correlation = 4
		if len(body) < correlation {
			return nil, fmt.Errorf("the broker's answer has %d bytes", len(body))
		}
		if err := resp.ReadFrom(body[correlation:]); err != nil {
			return nil, fmt.Errorf("read the broker's answer: %w", err)
		}
		add(resp.(R), refusal)
		return f.answer(resp), nil
	}}}, nil
}
