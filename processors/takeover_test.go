package processors

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/broker"
	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/lease"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// taker is a fetcher that can take partitions of an embedded broker whose
// topics are there and empty.
func taker(t *testing.T, partitions int32) *fetcher {
	t.Helper()
	b, err := broker.Open(broker.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Door: broker.Door{Trusted: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	env := Env{Cluster: cluster.At(b.Addr()), Compression: "none", Names: topics.Loop("test")}
	env.Definition.Partitions = partitions
	client, err := env.producer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	logs, err := replay.New(env.connection()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(logs.Close)
	f := &fetcher{
		env: env, logs: logs, low: new(atomic.Bool), life: t.Context(), boards: map[int32]*Board{},
		backlog: newPushback(nil, "", "", FetchOptions{BacklogBytes: 1}), lease: lease.New(0, lease.BootTime), out: &outbox{env: env, client: client},
	}
	spec := topics.Spec{Crawl: "test", Partitions: partitions, Replication: 1}
	if _, err := topics.Create(t.Context(), kadm.NewClient(client), spec); err != nil {
		t.Fatal(err)
	}
	return f
}

// A partition is read from what its last decision calls oldest, whatever
// claims and moved positions follow it.
func TestTakeBeginsAtTheOldestRelease(t *testing.T) {
	claim := encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}})
	moved := encode(&weftpb.Event{Epoch: 1, Positions: []*weftpb.Position{{Topic: "deduped"}}})
	decided := func(offset, oldest int64) []byte {
		return encode(&weftpb.Event{Epoch: 1, Offset: offset, Body: encode(&weftpb.Scheduled{Gauges: &weftpb.Gauges{}, Oldest: oldest})})
	}
	logs := [][][]byte{
		{},
		{claim},
		{claim, moved, moved},
		{claim, decided(1, 1), decided(2, 1), decided(3, 2)},
		{claim, decided(1, 1), decided(2, 1), decided(3, 2), moved, claim, moved},
		{claim, decided(1, 9)},                       // never beyond the decision itself
		{claim, decided(1, 1), claim, decided(2, 2)}, // the last is of an owner that was fenced
	}
	want := []int64{0, 0, 0, 2, 2, 1, 1}
	f := taker(t, int32(len(logs)))
	assigned := map[int32]kgo.Offset{}
	for p, log := range logs {
		assigned[int32(p)] = kgo.NewOffset().AtEnd() // what the group says does not count
		for _, value := range log {
			r := &kgo.Record{Topic: f.env.Names.Scheduled, Partition: int32(p), Value: value}
			if err := f.out.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	offsets, err := f.take(t.Context(), map[string]map[int32]kgo.Offset{f.env.Names.Scheduled: assigned})
	if err != nil {
		t.Fatal(err)
	}
	for p := range logs {
		got := offsets[f.env.Names.Scheduled][int32(p)]
		if got.EpochOffset().Offset != want[p] {
			t.Errorf("log %d is read from %d, want %d", p, got.EpochOffset().Offset, want[p])
		}
		if b := f.board(int32(p)); b == nil || b.next != want[p] || b.live {
			t.Errorf("log %d has the board %+v", p, b)
		}
	}

	first, second := f.board(0), f.board(1)
	f.drop(map[string][]int32{f.env.Names.Scheduled: {0}})
	if first.ctx.Err() == nil || f.board(0) != nil || second.ctx.Err() != nil {
		t.Error("dropping a partition does not end its board alone")
	}
	f.endAll()
	if second.ctx.Err() == nil {
		t.Error("a board outlives the stage")
	}
}

// turned is an event one bit of which is turned.
func turned(t *testing.T) []byte {
	t.Helper()
	value, err := ledger.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	value[1] ^= 1
	return value
}

// A damaged ledger is not taken; what a stranger wrote is passed over.
func TestTakeRefusesACorruptLedger(t *testing.T) {
	f := taker(t, 1)
	write := func(value []byte) {
		r := &kgo.Record{Topic: f.env.Names.Scheduled, Value: value}
		if err := f.out.client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte{0xff})
	if _, err := f.take(t.Context(), map[string]map[int32]kgo.Offset{f.env.Names.Scheduled: {0: kgo.NewOffset()}}); err != nil {
		t.Errorf("a ledger with a stranger's record is not taken: %v", err)
	}
	write(turned(t))
	_, err := f.take(t.Context(), map[string]map[int32]kgo.Offset{f.env.Names.Scheduled: {0: kgo.NewOffset()}})
	if !errors.Is(err, errFatal) {
		t.Errorf("a corrupt ledger is taken: %v", err)
	}
}
