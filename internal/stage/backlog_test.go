package stage_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// Records that are too old count as long as the group of the archive has not committed them,
// also before the group exists.
func TestUnarchived(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	now := time.Now()
	client, err := b.Cluster.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, age := range []time.Duration{9 * time.Hour, 3 * time.Hour, time.Hour, 0} {
		r := &kgo.Record{Topic: b.Names.Fetched, Key: []byte("k.example"), Value: []byte("x"), Timestamp: now.Add(-age)}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		commit int64 // -1: the group does not exist
		want   int64
	}{{-1, 2}, {1, 1}, {2, 0}, {4, 0}} {
		if c.commit >= 0 {
			var offsets kadm.Offsets
			offsets.AddOffset(b.Names.Fetched, 0, c.commit, -1)
			if err := b.Admin.CommitAllOffsets(t.Context(), b.Names.Group(topics.Archive), offsets); err != nil {
				t.Fatal(err)
			}
		}
		late, err := stage.Unarchived(t.Context(), b.Admin, b.Names, now.Add(-stage.ArchiveLag))
		if err != nil || late != c.want {
			t.Errorf("committed %d: %d late, %v; want %d", c.commit, late, err, c.want)
		}
	}
}

// While the archive is behind nothing is released, and the process says why. When the archive has
// caught up, it goes on.
func TestArchiveHoldsReleases(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Definition.Archive, b.Reserve = "s3://bucket", stage.NewReserve(0)
	r := &kgo.Record{Topic: b.Names.Fetched, Value: []byte("x"), Timestamp: time.Now().Add(-stage.ArchiveLag - time.Minute)}
	client, err := b.Cluster.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	low, stop := stage.WatchReserve(t.Context(), b.Env, topics.Schedule)
	wait := func(want bool) {
		t.Helper()
		for began := time.Now(); low.Load() != want; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > stagetest.Bound {
				t.Fatalf("it holds %v: %s", low.Load(), b.Log)
			}
		}
	}
	wait(true)
	if says := b.Reserve.Below(); says != "archive: it lacks 1 exchanges that are older than 2 h" {
		t.Error(says)
	}
	var offsets kadm.Offsets
	offsets.AddOffset(b.Names.Fetched, r.Partition, 1, -1)
	if err := b.Admin.CommitAllOffsets(t.Context(), b.Names.Group(topics.Archive), offsets); err != nil {
		t.Fatal(err)
	}
	wait(false)
	stop()
	if says := b.Reserve.Below(); says != "" {
		t.Error(says)
	}
}
