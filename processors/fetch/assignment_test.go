package fetch

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/fetch/hostqueue"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// testFetcher is a fetcher that is not a member of a group. Its crawl has an embedded
// broker whose topics are empty.
type testFetcher struct {
	*fetcher
	clients
}

func newTestFetcher(t *testing.T, partitions int32) testFetcher {
	t.Helper()
	env := stagetest.OpenLoop(t, partitions)
	fetched, err := env.NewOutbox(topics.Fetch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fetched.Close)
	visited, err := env.NewOutbox(topics.Fetch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(visited.Close)
	logs, err := topiclog.New(env.Cluster.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(logs.Close)
	c := clients{fetched: fetched, visited: visited, logs: logs}
	f := newFetcher(t.Context(), nil, env, Options{BacklogBytes: 1, Queues: hostqueue.Defaults()}, known{}, new(atomic.Bool), c)
	t.Cleanup(func() {
		f.assignment.partitions.end()
		f.queues.Close()
	})
	return testFetcher{f, c}
}

// assign assigns partitions, and returns the offsets from which they are read.
func (f testFetcher) assign(t *testing.T, offsets map[int32]kgo.Offset) (map[int32]kgo.Offset, error) {
	topic := f.env.Names.Scheduled
	from, err := f.assignment.onAssigned(t.Context(), map[string]map[int32]kgo.Offset{topic: offsets})
	return from[topic], err
}

// write writes a record, and waits for its acknowledgement.
func (f testFetcher) write(t *testing.T, r *kgo.Record) {
	t.Helper()
	if err := f.fetched.Client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// A partition is read from what its last decision calls oldest, whatever claims and
// moved positions follow it.
func TestTakeoverReadsFromTheOldestRelease(t *testing.T) {
	claim := stage.Encode(&weftpb.Event{Claim: &weftpb.Claim{Owner: "a"}})
	moved := stage.Encode(&weftpb.Event{Epoch: 1, Positions: []*weftpb.Position{{Topic: "deduped"}}})
	decided := func(offset, oldest int64) []byte {
		return stage.Encode(&weftpb.Event{Epoch: 1, Offset: offset, Body: stage.Encode(&weftpb.Scheduled{Gauges: &weftpb.Gauges{}, Oldest: oldest})})
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
	f := newTestFetcher(t, int32(len(logs)))
	assigned := map[int32]kgo.Offset{}
	for p, log := range logs {
		assigned[int32(p)] = kgo.NewOffset().AtEnd() // what the group says does not count
		for _, value := range log {
			f.write(t, &kgo.Record{Topic: f.env.Names.Scheduled, Partition: int32(p), Value: value})
		}
	}
	offsets, err := f.assign(t, assigned)
	if err != nil {
		t.Fatal(err)
	}
	for i := range logs {
		got := offsets[int32(i)]
		if got.EpochOffset().Offset != want[i] {
			t.Errorf("log %d is read from %d, want %d", i, got.EpochOffset().Offset, want[i])
		}
		if p := f.assignment.partitions.get(int32(i)); p == nil || p.visits.next != want[i] || p.visits.live {
			t.Errorf("log %d has the partition %+v", i, p)
		}
	}

	partitions := f.assignment.partitions
	first, second := partitions.get(0).visits, partitions.get(1).visits
	f.assignment.onLost(map[string][]int32{f.env.Names.Scheduled: {0}})
	if first.ctx.Err() == nil || partitions.get(0) != nil || second.ctx.Err() != nil {
		t.Error("the loss of a partition does not end its visits alone")
	}
	partitions.end()
	if second.ctx.Err() == nil {
		t.Error("a partition's visits outlive the stage")
	}
}

// turned is an event with one bit turned.
func turned(t *testing.T) []byte {
	t.Helper()
	value, err := ledger.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	value[1] ^= 1
	return value
}

// A damaged ledger is not taken over. A stranger's record is ignored.
func TestTakeoverRefusesACorruptLedger(t *testing.T) {
	f := newTestFetcher(t, 1)
	f.write(t, &kgo.Record{Topic: f.env.Names.Scheduled, Value: []byte{0xff}})
	if _, err := f.assign(t, map[int32]kgo.Offset{0: kgo.NewOffset()}); err != nil {
		t.Errorf("a ledger with a stranger's record is not taken over: %v", err)
	}
	f.write(t, &kgo.Record{Topic: f.env.Names.Scheduled, Value: turned(t)})
	_, err := f.assign(t, map[int32]kgo.Offset{0: kgo.NewOffset()})
	if !errors.Is(err, stage.ErrFatal) {
		t.Errorf("a corrupt ledger is taken over: %v", err)
	}
}
