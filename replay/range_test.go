package replay_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/replay"
)

// TestRangeDoesNotWaitForWhatWasTrimmed reads bounds that are older than the
// log's start: what is left comes, and an empty rest is no reason to wait.
func TestRangeDoesNotWaitForWhatWasTrimmed(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	options := []kgo.Opt{kgo.SeedBrokers(cluster.ListenAddrs()...)}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 5 {
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: "log", Value: []byte("x")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := replay.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, test := range []struct{ trim, seen int64 }{{0, 5}, {3, 2}, {5, 0}} {
		if test.trim > 0 {
			var offsets kadm.Offsets
			offsets.AddOffset("log", 0, test.trim, -1)
			if _, err := kadm.NewClient(client).DeleteRecords(ctx, offsets); err != nil {
				t.Fatal(err)
			}
		}
		seen := int64(0)
		err := reader.Range(ctx, "log", map[int32]replay.Bounds{0: {Start: 0, End: 5}}, func(*kgo.Record) error {
			seen++
			return nil
		})
		if err != nil || seen != test.seen {
			t.Errorf("trimmed to %d: %d records, %v; want %d", test.trim, seen, err, test.seen)
		}
	}
}
