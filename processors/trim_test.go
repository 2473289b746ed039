package processors

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

func TestTrimTo(t *testing.T) {
	for _, test := range []struct {
		name                            string
		start, end, older, needed, want int64
	}{
		{"the checkpoint bounds", 0, 100, 40, 90, 40},
		{"a reader bounds", 0, 100, 40, 30, 30},
		{"a reader needs all", 0, 100, 40, 0, 0},
		{"trimmed as far already", 40, 100, 40, 90, 40},
		{"trimmed further than is needed", 50, 100, 40, 30, 50},
		{"the last record stays", 0, 100, 120, 120, 99},
		{"an empty log", 100, 100, 99, 99, 100},
	} {
		if got := trimTo(ledger.Bounds{Start: test.start, End: test.end}, test.older, test.needed); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// schedule must be able to go on from its commit, and from the older one of its
// own checkpoints.
func TestNeededOfDeduped(t *testing.T) {
	names := topics.Loop("test")
	at := func(position int64) Trimmed {
		return Trimmed{Audit: ledger.Audit{Older: ledger.Folded{Positions: map[string]ledger.Position{names.Deduped: {Offset: position}}}}}
	}
	failed := at(70)
	failed.Err = errors.New("damaged")
	for _, test := range []struct {
		name      string
		commit    int64 // -1: none
		scheduled Trimmed
		want      int64
	}{
		{"its checkpoint is behind its commit", 90, at(70), 71},
		{"its commit is behind its checkpoint", 50, at(70), 50},
		{"it has committed nothing", -1, at(70), 0},
		{"its checkpoint knows no position", 90, Trimmed{}, 0},
		{"its checkpoint is damaged", 90, failed, 0},
	} {
		commits := map[int32]int64{}
		if test.commit >= 0 {
			commits[0] = test.commit
		}
		one := &trimmer{env: stage.Env{Names: names}, commits: commits}
		if got, err := one.neededOfDeduped(test.scheduled); err != nil || got != test.want {
			t.Errorf("%s: %d and %v, want %d", test.name, got, err, test.want)
		}
	}
}

// fetch goes back to what the last decision calls oldest, and the drained test
// reads that decision; claims and positions behind it say nothing.
func TestNeededOfScheduled(t *testing.T) {
	names := topics.Loop("test")
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, names.Scheduled))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	brokers := kgo.SeedBrokers(cluster.ListenAddrs()...)
	client, err := kgo.NewClient(brokers, kgo.DefaultProduceTopic(names.Scheduled))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	logs, err := topiclog.New(brokers)
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	end, epoch := int64(0), int64(0)
	write := func(ev *weftpb.Event) {
		t.Helper()
		if err := client.ProduceSync(t.Context(), &kgo.Record{Value: stage.Encode(ev)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		end++
		if ev.Claim != nil {
			epoch = end
		}
	}
	decide := func(oldest int64) {
		t.Helper()
		write(&weftpb.Event{Epoch: epoch, Offset: end, Body: stage.Encode(&weftpb.Scheduled{Gauges: &weftpb.Gauges{}, Oldest: oldest})})
	}
	one := &trimmer{env: stage.Env{Names: names}, logs: logs}
	needs := func(start, want int64) {
		t.Helper()
		log := ledger.Bounds{Start: start, End: end}
		got, err := one.neededOfScheduled(t.Context(), Trimmed{Ledger: names.Scheduled, Audit: ledger.Audit{Log: log}})
		if err != nil || got != want {
			t.Errorf("of %v %d is needed (%v), want %d", log, got, err, want)
		}
	}
	write(&weftpb.Event{Claim: &weftpb.Claim{}})
	needs(0, 0)
	decide(1)
	decide(2)
	decide(2)
	needs(0, 2)
	write(&weftpb.Event{Claim: &weftpb.Claim{}})
	write(&weftpb.Event{Epoch: epoch, Offset: end, Positions: []*weftpb.Position{{Topic: names.Deduped}}})
	needs(0, 2)
	decide(99) // nothing is out: the decision itself is what is needed
	needs(3, end-1)
	if _, err := one.neededOfScheduled(t.Context(), Trimmed{Ledger: names.Scheduled, Audit: ledger.Audit{Log: ledger.Bounds{Start: 4, End: 6}}}); !errors.Is(err, ledger.ErrTrimmed) {
		t.Errorf("a log without a decision: %v", err)
	}
}
