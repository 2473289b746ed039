package status_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const partitions = 2

// loop is the topics of a crawl on a broker in memory, and a client that plays
// all stages.
type loop struct {
	t       testing.TB
	ctx     context.Context
	cluster *kfake.Cluster
	options []kgo.Opt
	names   topics.Names
	client  *kgo.Client
	admin   *kadm.Client
	claims  map[int32]int64 // epoch of each partition of scheduled
	// scheduled is the last offset of each of its partitions.
	scheduled map[int32]int64
}

func newLoop(t testing.TB) *loop {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	l := &loop{
		t: t, cluster: cluster, names: topics.Loop("weft"), claims: map[int32]int64{}, scheduled: map[int32]int64{},
		options: []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...)},
	}
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	producing := topics.DefaultProducerOptions()
	producing.Manual, producing.Linger = true, 0
	if l.client, err = topics.NewProducer(l.names, producing, l.options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.client.Close)
	l.admin = kadm.NewClient(l.client)
	return l
}

func (l *loop) create() {
	l.t.Helper()
	if _, err := topics.Create(l.ctx, l.admin, topics.Spec{Crawl: "weft", Partitions: partitions, Replication: 1}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *loop) reader() *status.Monitor {
	l.t.Helper()
	r, err := status.NewMonitor(l.names, l.options...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(r.Close)
	return r
}

// write appends a record and returns its offset.
func (l *loop) write(topic string, partition int32, value []byte) int64 {
	l.t.Helper()
	r := &kgo.Record{Topic: topic, Partition: partition, Value: value}
	if err := l.client.ProduceSync(l.ctx, r).FirstErr(); err != nil {
		l.t.Fatal(err)
	}
	if topic == l.names.Scheduled {
		l.scheduled[partition] = r.Offset
	}
	return r.Offset
}

// commit moves the group of a stage to offset.
func (l *loop) commit(stage topics.Stage, topic string, partition int32, offset int64) {
	l.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, partition, offset, -1)
	if err := l.admin.CommitAllOffsets(l.ctx, l.names.Group(stage), offsets); err != nil {
		l.t.Fatal(err)
	}
}

// claim makes a new owner of a partition of scheduled and returns its epoch.
func (l *loop) claim(partition int32) int64 {
	l.t.Helper()
	l.claims[partition] = l.write(l.names.Scheduled, partition, l.encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "test"}})) + 1
	return l.claims[partition]
}

// schedule writes an event of an owner that leaves pending URLs.
func (l *loop) schedule(partition int32, epoch, pending int64) {
	l.t.Helper()
	body := l.encode(&weftpb.Scheduled{Gauges: &weftpb.Gauges{Pending: pending, Queued: pending}})
	next := l.scheduled[partition] + 1
	l.write(l.names.Scheduled, partition, l.encode(&weftpb.Event{Epoch: epoch, Offset: next, Body: body}))
}

func (l *loop) encode(m proto.Message) []byte {
	l.t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		l.t.Fatal(err)
	}
	return raw
}

func (l *loop) read(r *status.Monitor) status.Status {
	l.t.Helper()
	s, err := r.Read(l.ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

func TestEmptyLoopIsDrained(t *testing.T) {
	l := newLoop(t)
	r := l.reader()
	if _, err := r.Read(l.ctx); !errors.Is(err, topics.ErrMissing) {
		t.Errorf("without topics: %v", err)
	}
	l.create()
	s := l.read(l.reader())
	if left := s.Left(); left != "" {
		t.Error(left)
	}
	// seeds, discovered, normalized, deduped, visited, scheduled, fetched
	if len(s.Lags) != 7*partitions {
		t.Errorf("%d lags", len(s.Lags))
	}
}

// TestEachInputHolds leaves one record of each input of each stage, in turn.
func TestEachInputHolds(t *testing.T) {
	l := newLoop(t)
	l.create()
	r := l.reader()
	for _, stage := range topics.Stages() {
		for _, topic := range l.names.Inputs(stage) {
			if topic == l.names.Scheduled {
				continue // of fetch; TestGauges
			}
			value := []byte("x")
			next := l.write(topic, 1, value) + 1
			s := l.read(r)
			if want := fmt.Sprintf("%s is 1 records behind in %s/1", stage, topic); s.Left() != want {
				t.Errorf("%s: %q", want, s.Left())
			}
			if s.Behind(stage) != 1 {
				t.Errorf("%s is %d behind", stage, s.Behind(stage))
			}
			l.commit(stage, topic, 1, next)
			if left := l.read(r).Left(); left != "" {
				t.Errorf("after the commit of %s: %s", stage, left)
			}
		}
	}
}

func TestTrimmedLogWithoutCommitIsConsumed(t *testing.T) {
	l := newLoop(t)
	l.create()
	r := l.reader()
	next := l.write(l.names.Discovered, 0, []byte("x")) + 1
	if l.read(r).Drained() {
		t.Error("drained with a record that nobody has read")
	}
	var offsets kadm.Offsets
	offsets.AddOffset(l.names.Discovered, 0, next, -1)
	if deleted, err := l.admin.DeleteRecords(l.ctx, offsets); err != nil || deleted.Error() != nil {
		t.Fatal(err, deleted.Error())
	}
	if left := l.read(r).Left(); left != "" {
		t.Error(left)
	}
}

func TestGauges(t *testing.T) {
	l := newLoop(t)
	l.create()
	r := l.reader()
	pending := func(want int64) {
		t.Helper()
		s := l.read(r)
		if got := s.Gauges.GetPending(); got != want || s.Drained() != (want == 0) {
			t.Errorf("%d pending, want %d; left: %s", got, want, s.Left())
		}
	}
	first := l.claim(0)
	pending(0) // a claim alone holds nothing
	l.schedule(0, first, 3)
	pending(3)
	other := l.claim(1)
	l.schedule(1, other, 4)
	pending(7)
	l.claim(0)
	pending(7) // the new owner has not spoken yet
	l.schedule(0, first, 99)
	pending(7) // the old one has no say
	for range 40 {
		l.claim(0)
	}
	pending(7) // far behind many claims
	second := l.claim(0)
	l.schedule(0, second, 0)
	pending(4)
	l.schedule(1, other, 0)
	pending(0)
}

// A partition that has moved to another broker is read there at once, although
// kadm asks a cache who leads it: the question for the ends renews that.
func TestGaugesAfterALeaderMoved(t *testing.T) {
	l := newLoop(t)
	l.create()
	r := l.reader()
	owner := l.claim(0)
	for moved := range int64(4) {
		if err := l.cluster.MoveTopicPartition(l.names.Scheduled, 0, int32(moved%2)); err != nil {
			t.Fatal(err)
		}
		l.schedule(0, owner, moved+1)
		if got := l.read(r).Gauges.GetPending(); got != moved+1 {
			t.Errorf("%d pending after move %d", got, moved+1)
		}
	}
}

// Records of strangers at the end of scheduled are counted, and what the last event
// said holds.
func TestStrangersAreCounted(t *testing.T) {
	l := newLoop(t)
	l.create()
	epoch := l.claim(1)
	l.schedule(1, epoch, 3)
	r := l.reader()
	for n := range int64(100) { // more than are looked at first
		l.write(l.names.Scheduled, 1, []byte("no event"))
		if n%33 != 0 {
			continue
		}
		s := l.read(r)
		if s.Strangers != n+1 || s.Gauges.GetPending() != 3 || len(s.Damaged) > 0 {
			t.Fatalf("after %d: %d strangers, %d pending, %v", n+1, s.Strangers, s.Gauges.GetPending(), s.Damaged)
		}
	}
}

// A partition whose end is damaged is named, and the others are read.
func TestDamageIsNamed(t *testing.T) {
	l := newLoop(t)
	l.create()
	l.schedule(0, l.claim(0), 3)
	event, err := ledger.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	event[3] ^= 1
	l.claim(1)
	l.write(l.names.Scheduled, 1, event)
	s := l.read(l.reader())
	if len(s.Damaged) != 1 || !errors.Is(s.Damaged[0], ledger.ErrCorrupt) || !strings.Contains(s.Damaged[0].Error(), "weft.scheduled/1 at 1") {
		t.Errorf("damaged: %v", s.Damaged)
	}
	if s.Gauges.GetPending() != 3 || s.Drained() {
		t.Errorf("%d pending, drained %v", s.Gauges.GetPending(), s.Drained())
	}
}

// TestLastPageDuringReading lets the last page of a crawl come back before each
// request that a reading makes. The reading must never take the crawl for
// drained: the page is not parsed yet.
func TestLastPageDuringReading(t *testing.T) {
	const requests = 5 // ends of scheduled, commits, starts, ends, last events
	for before := int32(1); before <= requests+1; before++ {
		t.Run(fmt.Sprint("request ", before), func(t *testing.T) {
			l := newLoop(t)
			l.create()
			epoch := l.claim(0)
			l.schedule(0, epoch, 1)
			r := l.reader()
			comesBack := func() {
				l.write(l.names.Fetched, 0, []byte("page"))
				next := l.write(l.names.Visited, 0, []byte("outcome")) + 1
				l.schedule(0, epoch, 0)
				l.commit(topics.Schedule, l.names.Visited, 0, next)
			}
			var seen atomic.Int32
			happened := make(chan struct{})
			for _, key := range []kmsg.Key{kmsg.ListOffsets, kmsg.OffsetFetch, kmsg.Fetch} {
				l.cluster.ControlKey(key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
					l.cluster.KeepControl()
					if seen.Add(1) == before {
						l.cluster.SleepControl(func() { comesBack(); close(happened) })
					}
					return nil, nil, false
				})
			}
			s := l.read(r)
			seen.Store(100)
			if s.Drained() {
				t.Errorf("drained, with a page that is not parsed; the reading: %+v", s)
			}
			select {
			case <-happened:
			default:
				if before <= requests {
					t.Fatalf("a reading makes fewer than %d requests", before)
				}
				comesBack()
			}
			if got, want := l.read(r).Left(), "parse is 1 records behind in weft.fetched/0"; got != want {
				t.Errorf("then %q", got)
			}
			l.commit(topics.Parse, l.names.Fetched, 0, 1)
			if left := l.read(r).Left(); left != "" {
				t.Errorf("in the end: %s", left)
			}
		})
	}
}

// BenchmarkReadAtRest reads the status of a loop in which nothing moves.
func BenchmarkReadAtRest(b *testing.B) {
	l := newLoop(b)
	l.create()
	for p := range int32(partitions) {
		l.schedule(p, l.claim(p), 1)
	}
	r := l.reader()
	l.read(r)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadMoving reads it after the frontier wrote to each partition.
func BenchmarkReadMoving(b *testing.B) {
	l := newLoop(b)
	l.create()
	r := l.reader()
	var epochs [partitions]int64
	for p := range epochs {
		epochs[p] = l.claim(int32(p))
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for p, epoch := range epochs {
			l.schedule(int32(p), epoch, 1)
		}
		b.StartTimer()
		if _, err := r.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// Seeds of a transaction that is open are named for what they wait for, and are read once it
// has ended; no reader stays behind the record of its end for ever.
func TestOpenTransaction(t *testing.T) {
	l := newLoop(t)
	l.create()
	r := l.reader()
	producer, err := kgo.NewClient(append(l.options, kgo.TransactionalID("x"), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	if err := producer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	l.write(l.names.Seeds, 1, []byte("before"))
	if err := producer.ProduceSync(l.ctx, &kgo.Record{Topic: l.names.Seeds, Partition: 1, Value: []byte("seed")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if got := l.read(r).Left(); got != "normalize is 2 records behind in weft.seeds/1" {
		t.Error(got)
	}
	l.commit(topics.Normalize, l.names.Seeds, 1, 1)
	const waits = "1 records of weft.seeds/1 wait for the end of a transaction that a producer has open"
	if s := l.read(r); s.Left() != waits || s.Transaction() != waits {
		t.Errorf("%q, %q", s.Left(), s.Transaction())
	}
	if err := producer.EndTransaction(l.ctx, kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	if s := l.read(r); s.Transaction() != "" || s.Left() != "normalize is 2 records behind in weft.seeds/1" {
		t.Errorf("%q, %q", s.Left(), s.Transaction())
	}
	l.commit(topics.Normalize, l.names.Seeds, 1, 3)
	if left := l.read(r).Left(); left != "" {
		t.Error(left)
	}
}

// dedupe and schedule are never given what ends a transaction, and are not behind for it; and
// such a record at its end does not make the frontier unreadable.
func TestEndsOfTransactionsAreRead(t *testing.T) {
	l := newLoop(t)
	l.create()
	l.schedule(1, l.claim(1), 0)
	r := l.reader()
	producer, err := kgo.NewClient(append(l.options, kgo.TransactionalID("x"), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	if err := producer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	inputs := []struct {
		stage topics.Stage
		topic string
	}{{topics.Dedupe, l.names.Normalized}, {topics.Schedule, l.names.Deduped}, {topics.Schedule, l.names.Visited}}
	for _, in := range inputs {
		if err := producer.ProduceSync(l.ctx, &kgo.Record{Topic: in.topic, Partition: 1, Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.ProduceSync(l.ctx, &kgo.Record{Topic: l.names.Scheduled, Partition: 1, Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := producer.EndTransaction(l.ctx, kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		if want, got := fmt.Sprintf("%s is 2 records behind in %s/1", in.stage, in.topic), l.read(r).Left(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		l.commit(in.stage, in.topic, 1, 1) // behind the record, in front of what ends its transaction
	}
	if left := l.read(r).Left(); left != "" {
		t.Error(left)
	}
}
