package topiclog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a ledger of two partitions: in each a claim, an event of a.example, one
// of b.example, and one of a.example that an older owner wrote.
type log struct {
	ctx    context.Context
	client *kgo.Client
	reader *topiclog.Reader
}

const topic = "weft.scheduled"

func newLog(t *testing.T) log {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	options := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner())}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	reader, err := topiclog.New(options[:1:1]...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	l := log{ctx, client, reader}
	for partition := range int32(2) {
		l.write(t, partition, "", &weftpb.Event{Claim: &weftpb.Claim{Owner: "old"}})
		l.write(t, partition, "", &weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}})
		for i, domain := range []string{"a.example", "b.example", "a.example"} {
			epoch := int64(2)
			if i == 2 {
				epoch = 1
			}
			body, err := proto.Marshal(&weftpb.Scheduled{DecidedMs: 1})
			if err != nil {
				t.Fatal(err)
			}
			l.write(t, partition, domain, &weftpb.Event{Epoch: epoch, Offset: int64(2 + i), Body: body})
		}
	}
	return l
}

func (l log) write(t *testing.T, partition int32, key string, ev *weftpb.Event) {
	t.Helper()
	value, err := proto.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.client.ProduceSync(l.ctx, &kgo.Record{Topic: topic, Partition: partition, Key: []byte(key), Value: value}).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// trim deletes what a partition holds before offset.
func (l log) trim(t *testing.T, partition int32, offset int64) {
	t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, offset, -1)
	if _, err := kadm.NewClient(l.client).DeleteRecords(l.ctx, offsets); err != nil {
		t.Fatal(err)
	}
}

// read lists the events of a part: "partition@offset domain".
func (l log) read(part topiclog.Part) (events []string, err error) {
	err = l.reader.Scheduled(l.ctx, topic, part, func(e topiclog.Event[*weftpb.Scheduled]) error {
		events = append(events, fmt.Sprintf("%d@%d %s", e.Record.Partition, e.Record.Offset, e.Domain))
		return nil
	})
	slices.Sort(events)
	return events, err
}

func TestPartsOfALedger(t *testing.T) {
	l := newLog(t)
	for _, test := range []struct {
		part topiclog.Part
		want []string
	}{
		{topiclog.Part{}, []string{"0@2 a.example", "0@3 b.example", "1@2 a.example", "1@3 b.example"}},
		{topiclog.Part{Partitions: []int32{1}}, []string{"1@2 a.example", "1@3 b.example"}},
		{topiclog.Part{Domain: "a.example"}, []string{"0@2 a.example", "1@2 a.example"}},
		{topiclog.Part{Partitions: []int32{0}, Domain: "b.example"}, []string{"0@3 b.example"}},
		{topiclog.Part{Partitions: []int32{0}, Domain: "c.example"}, nil},
	} {
		if got, err := l.read(test.part); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, %v; want %q", test.part, got, err, test.want)
		}
	}
}

func TestTrimmedLedgers(t *testing.T) {
	l := newLog(t)
	l.trim(t, 0, 3)
	if _, err := l.read(topiclog.Part{}); !errors.Is(err, ledger.ErrTrimmed) {
		t.Errorf("a trimmed ledger: %v", err)
	}
	if got, err := l.read(topiclog.Part{Partitions: []int32{1}}); err != nil || len(got) != 2 {
		t.Errorf("a whole partition of it: %q, %v", got, err)
	}
	if got, err := l.read(topiclog.Part{Partitions: []int32{0}, Trimmed: true}); err != nil || !slices.Equal(got, []string{"0@3 b.example"}) {
		t.Errorf("what is left: %q, %v", got, err)
	}
}
