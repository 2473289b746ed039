package processors

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/dedupe"
	"github.com/weftcrawl/weft/processors/schedule"
	"github.com/weftcrawl/weft/test/memstore"
	"github.com/weftcrawl/weft/topics"
)

// A domain in two partitions would have two owners, who know nothing of each
// other's requests.
func TestMisplacedRecordsAreRejected(t *testing.T) {
	env := stage.Env{Names: topics.Loop("test"), Meter: stage.NoMeter{}, Definition: topics.Definition{Scope: "any", Partitions: 4, MaxDepth: -1, PerDomain: 1}}
	const domain = "a.example"
	right := topics.Partition(domain, 4)
	for partition := range int32(4) {
		want := ""
		if partition != right {
			want = "misplaced"
		}
		for _, record := range []struct {
			def   ledger.Processor
			topic string
			value []byte
		}{
			{dedupe.Define(env), env.Names.Normalized, stage.Encode(&weftpb.Normalized{Source: "http://a.example/"})},
			{schedule.Define(env, new(atomic.Bool)), env.Names.Visited, stage.Encode(&weftpb.Visited{Visit: "unknown"})},
		} {
			p, err := ledger.NewPartition(record.def, partition, &memstore.Store{}, ledger.Nothing(), ledger.PartitionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p.Live(0)
			_, err = p.Answer(ledger.InputRecord{Topic: record.topic, Key: domain, Value: record.value}, time.Now())
			var rejected *ledger.Rejection
			if got := errors.As(err, &rejected); got != (want != "") || got && rejected.Reason != want || !got && err != nil {
				t.Errorf("%s in partition %d: %v, want %q", record.topic, partition, err, want)
			}
		}
	}
}
