package broker

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// guarded is a listener through which clients from outside may write weft.seeds, and not use the
// group weft.normalize.
func guarded() Options {
	return Options{
		Listen: "127.0.0.1:0",
		Listener: Listener{
			Writable: func(topic string) bool { return topic == "weft.seeds" },
			Reserved: func(group string) bool { return group == "weft.normalize" },
		},
	}
}

// openGuarded opens a broker with two topics, which clients from outside reach.
func openGuarded(t testing.TB, o Options) (b *Broker, member *kgo.Client) {
	t.Helper()
	o.Dir = t.TempDir()
	b = open(t, o)
	member = connect(t, b)
	if _, err := kadm.NewClient(member).CreateTopics(deadline(t), 2, -1, nil, "weft.seeds", "weft.deduped"); err != nil {
		t.Fatal(err)
	}
	return b, member
}

// outsideClient connects to the listener.
func outsideClient(t testing.TB, b *Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.Addr())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// codes are all error codes in a response, by name.
func codes(resp kmsg.Response) (all []string) {
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).Name == "ErrorCode" {
					name := "ok"
					if err := kerr.TypedErrorForCode(int16(v.Field(i).Int())); err != nil {
						name = err.Message
					}
					all = append(all, name)
				} else if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "UnknownTags" {
					walk(v.Field(i))
				}
			}
		}
	}
	walk(reflect.ValueOf(resp))
	slices.Sort(all)
	return slices.Compact(all)
}

// filled is a request of a kind in which each list has an element, and which
// names a topic and a group of the crawl.
func filled(req kmsg.Request) kmsg.Request {
	var fill func(v reflect.Value, name string)
	fill = func(v reflect.Value, name string) {
		switch v.Kind() {
		case reflect.Pointer:
			if name != "TransactionID" && name != "InstanceID" {
				v.Set(reflect.New(v.Type().Elem()))
				fill(v.Elem(), name)
			}
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				return
			}
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), name)
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && f.Name != "Version" && f.Name != "UnknownTags" {
					fill(v.Field(i), f.Name)
				}
			}
		case reflect.String:
			if v.SetString("weft.deduped"); strings.HasPrefix(name, "Group") {
				v.SetString("weft.normalize")
			}
		case reflect.Int8: // of resources: a topic
			v.SetInt(2)
		case reflect.Int16:
			v.SetInt(1)
		}
	}
	fill(reflect.ValueOf(req).Elem(), "")
	return req
}

// Whatever a client from outside asks for is decided, in each version that is offered: what
// would change the crawl is refused with Kafka's code, and the rest is answered.
func TestEachKindIsDecided(t *testing.T) {
	b, member := openGuarded(t, guarded())
	client := outsideClient(t, b)
	refusals := map[kmsg.Key]string{
		kmsg.Produce: "TOPIC_AUTHORIZATION_FAILED", kmsg.AddPartitionsToTxn: "TOPIC_AUTHORIZATION_FAILED",
		kmsg.CreateTopics: "TOPIC_AUTHORIZATION_FAILED", kmsg.DeleteTopics: "TOPIC_AUTHORIZATION_FAILED",
		kmsg.DeleteRecords: "TOPIC_AUTHORIZATION_FAILED", kmsg.CreatePartitions: "TOPIC_AUTHORIZATION_FAILED",
		kmsg.AlterConfigs: "TOPIC_AUTHORIZATION_FAILED", kmsg.IncrementalAlterConfigs: "TOPIC_AUTHORIZATION_FAILED",
		kmsg.CreateACLs: "CLUSTER_AUTHORIZATION_FAILED", kmsg.DeleteACLs: "CLUSTER_AUTHORIZATION_FAILED",
		kmsg.AlterReplicaLogDirs: "CLUSTER_AUTHORIZATION_FAILED", kmsg.ElectLeaders: "CLUSTER_AUTHORIZATION_FAILED",
		kmsg.WriteTxnMarkers: "CLUSTER_AUTHORIZATION_FAILED", kmsg.AlterClientQuotas: "CLUSTER_AUTHORIZATION_FAILED",
		kmsg.SASLHandshake: "ILLEGAL_SASL_STATE", kmsg.SASLAuthenticate: "ILLEGAL_SASL_STATE",
	}
	for key, what := range decisions {
		if what == byGroup {
			refusals[key] = "GROUP_AUTHORIZATION_FAILED"
		}
	}
	before := state(t, member)
	for key := range int16(kmsg.MaxKey + 1) {
		has, offered := b.listener.offered[key]
		if offered != (decisions[kmsg.Key(key)] != notOffered) {
			t.Errorf("%s: offered %v", kmsg.NameForKey(key), offered)
		}
		for version := has.least; offered && version <= has.most; version++ {
			req := filled(kmsg.RequestForKey(key))
			req.SetVersion(version)
			resp, err := client.Broker(0).Request(deadline(t), pinned{req})
			if err != nil {
				t.Errorf("%s version %d: %v", kmsg.NameForKey(key), version, err)
				continue
			}
			want, got := []string{refusals[kmsg.Key(key)]}, codes(resp)
			if k := kmsg.Key(key); k == kmsg.AddPartitionsToTxn || k == kmsg.ElectLeaders {
				got = slices.DeleteFunc(got, func(code string) bool { return code == "ok" }) // of a field that these versions do not have
			}
			if want[0] != "" && !cmp.Equal(got, want) {
				t.Errorf("%s version %d: %v, want %v", kmsg.NameForKey(key), version, got, want)
			}
		}
	}
	if diff := cmp.Diff(before, state(t, member)); diff != "" {
		t.Errorf("a client from outside changed something: %s", diff)
	}
}

// pinned is a request that is made in its own version.
type pinned struct{ kmsg.Request }

func (p pinned) MaxVersion() int16 { return p.GetVersion() }

// state is what a broker holds: topics, their ends and settings, and commits.
func state(t testing.TB, member *kgo.Client) map[string]string {
	t.Helper()
	ctx, admin := deadline(t), kadm.NewClient(member)
	held := map[string]string{}
	ends, err := admin.ListEndOffsets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	starts, err := admin.ListStartOffsets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ends.Each(func(o kadm.ListedOffset) {
		start, _ := starts.Lookup(o.Topic, o.Partition)
		held[fmt.Sprintf("%s/%d", o.Topic, o.Partition)] = fmt.Sprintf("%d to %d", start.Offset, o.Offset)
	})
	configs, err := admin.DescribeTopicConfigs(ctx, "weft.seeds", "weft.deduped")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		for _, pair := range c.Configs {
			held[c.Name+" "+pair.Key] = pair.MaybeValue()
		}
	}
	commits, err := admin.FetchOffsets(ctx, "weft.normalize")
	if err == nil {
		held["commits"] = fmt.Sprint(commits)
	}
	return held
}

// Of a request that names several topics or groups the part is done that is
// allowed.
func TestPartOfARequest(t *testing.T) {
	b, member := openGuarded(t, guarded())
	client := outsideClient(t, b)
	for _, group := range []string{"weft.normalize", "mine"} {
		offsets := kadm.Offsets{}
		offsets.AddOffset("weft.seeds", 0, 0, -1)
		if err := kadm.NewClient(member).CommitAllOffsets(deadline(t), group, offsets); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := kadm.NewClient(client).DeleteGroups(deadline(t), "weft.normalize", "mine")
	if err != nil || deleted["weft.normalize"].Err != kerr.GroupAuthorizationFailed || deleted["mine"].Err != nil {
		t.Errorf("deleted %+v: %v", deleted, err)
	}
	if groups, err := kadm.NewClient(member).ListGroups(deadline(t)); err != nil || !slices.Equal(groups.Groups(), []string{"weft.normalize"}) {
		t.Errorf("groups %v: %v", groups.Groups(), err)
	}

	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 1000
	for _, topic := range []string{"weft.deduped", "weft.seeds"} {
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic = topic
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Records = batch(t, "x")
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
	}
	req.SetVersion(8)
	answer, err := client.Broker(0).Request(deadline(t), pinned{req})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]error{}
	for _, topic := range answer.(*kmsg.ProduceResponse).Topics {
		got[topic.Topic] = kerr.ErrorForCode(topic.Partitions[0].ErrorCode)
	}
	if want := map[string]error{"weft.seeds": nil, "weft.deduped": kerr.TopicAuthorizationFailed}; !maps.Equal(got, want) {
		t.Errorf("produced %v", got)
	}
	if s := state(t, member); s["weft.seeds/0"] != "0 to 1" || s["weft.deduped/0"] != "0 to 0" {
		t.Errorf("%v", s)
	}
}

// batch is a record batch of one record, as it goes over a connection.
func batch(t testing.TB, value string) []byte {
	t.Helper()
	o := guarded()
	o.Dir = t.TempDir()
	b := open(t, o)
	client := connect(t, b)
	if _, err := kadm.NewClient(client).CreateTopic(deadline(t), 1, -1, nil, "t"); err != nil {
		t.Fatal(err)
	}
	if err := client.ProduceSync(deadline(t), &kgo.Record{Topic: "t", Value: []byte(value)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MaxWaitMillis, req.SessionEpoch = 1<<20, 100, -1
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = "t"
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.PartitionMaxBytes = 1 << 20
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	req.SetVersion(11)
	resp, err := client.Broker(0).Request(deadline(t), pinned{req})
	if err != nil {
		t.Fatal(err)
	}
	return resp.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
}

// A client from outside has groups, transactions and idempotent producers of its own, and
// reads everything.
func TestStrangersSeedAndConsume(t *testing.T) {
	b, member := openGuarded(t, guarded())
	if err := member.ProduceSync(deadline(t), &kgo.Record{Topic: "weft.deduped", Value: []byte("event")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	seeds := outsideClient(t, b, kgo.TransactionalID("mine"), kgo.DefaultProduceTopic("weft.seeds"))
	for _, commit := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		if err := seeds.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := seeds.ProduceSync(deadline(t), kgo.StringRecord(fmt.Sprintf("committed %v", commit))).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := seeds.EndTransaction(deadline(t), commit); err != nil {
			t.Fatal(err)
		}
	}
	consumer := outsideClient(t, b, kgo.ConsumerGroup("mine"), kgo.ConsumeTopics("weft.seeds", "weft.deduped"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxBytes(1<<30), kgo.BrokerMaxReadBytes(1<<30))
	got := map[string]bool{}
	for len(got) < 2 {
		fetches := consumer.PollFetches(deadline(t))
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { got[string(r.Value)] = true })
	}
	if !maps.Equal(got, map[string]bool{"event": true, "committed true": true}) {
		t.Errorf("read %v", got)
	}
	if err := consumer.CommitUncommittedOffsets(deadline(t)); err != nil {
		t.Error(err)
	}
	theirs := outsideClient(t, b, kgo.ConsumerGroup("weft.normalize"), kgo.ConsumeTopics("weft.seeds"))
	if err := theirs.PollFetches(deadline(t)).Err(); err == nil || !strings.Contains(err.Error(), "GROUP_AUTHORIZATION_FAILED") {
		t.Errorf("joined the crawl's group: %v", err)
	}
}

// A listener for trusted clients refuses nothing but what is no request.
func TestTrustedClients(t *testing.T) {
	o := guarded()
	o.Listener.Trusted = true
	b, _ := openGuarded(t, o)
	client := outsideClient(t, b)
	if err := client.ProduceSync(deadline(t), &kgo.Record{Topic: "weft.deduped", Value: []byte("x")}).FirstErr(); err != nil {
		t.Error(err)
	}
	deleted, err := kadm.NewClient(client).DeleteTopics(deadline(t), "weft.deduped")
	if err != nil || deleted.Error() != nil {
		t.Errorf("deleted %v: %v", deleted, err)
	}
	if _, err := kadm.NewClient(client).ListGroups(deadline(t)); err != nil {
		t.Error(err)
	}
}

// docs/security.md has a table of all kinds of requests that Kafka's protocol
// knows, by what becomes of them.
func TestTableOfKinds(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[decision]string{
		notOffered: "not offered", allowed: "allowed", byTopic: "by topic", byGroup: "by group", bounded: "bounded", refused: "refused", byListener: "at the listener",
	}
	want := map[string][]string{}
	for key := range int16(kmsg.MaxKey + 1) {
		what := names[decisions[kmsg.Key(key)]]
		want[what] = append(want[what], kmsg.NameForKey(key))
	}
	got := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !slices.Contains(slices.Collect(maps.Values(names)), strings.TrimSpace(cells[1])) {
			continue
		}
		what := strings.TrimSpace(cells[1])
		for i, name := range strings.Split(cells[3], "`") {
			if i%2 == 1 {
				got[what] = append(got[what], name)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/security.md (-want +got):\n%s", diff)
	}
}
