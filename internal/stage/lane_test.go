package stage_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// While slow records are worked on, as many at a time as the lane has places, all others are
// written. A slow record that makes the stage panic is set aside, and all are committed at the end.
func TestLane(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Write(b.Names.Fetched, "slow 1", "slow boom", "slow 2", "a", "b", "c")
	open := make(chan struct{})
	var inside, most atomic.Int32
	end := stagetest.During(t, func(ctx context.Context) error {
		lane := stage.NewLane(2, 1<<20, func(r *kgo.Record) bool { return strings.HasPrefix(string(r.Value), "slow") })
		defer lane.Wait()
		handler := stage.Transform(func(r *kgo.Record) ([]stage.Output, string) {
			if strings.HasPrefix(string(r.Value), "slow") {
				defer inside.Add(-1)
				now := inside.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				<-open
			}
			if string(r.Value) == "slow boom" {
				stagetest.Stumble([]byte("boom"))
			}
			return []stage.Output{{Topic: b.Names.Parsed, Domain: "k.example", Key: "k", Value: r.Value}}, ""
		}).Handle
		return b.RunWorker(ctx, stage.Worker{
			Stage: topics.Parse, Limit: stage.Limit{Goroutines: 1, Records: 10, Bytes: 1 << 20},
			Handler: handler, Lane: lane,
		})
	})
	if first := strings.Join(b.Read(b.Names.Parsed, 3), " "); strings.Contains(first, "slow") {
		t.Errorf("written while slow records are worked on: %s", first)
	}
	close(open)
	b.SetAside(topics.Parse, b.Names.Fetched, 1, "slow boom")
	if all := strings.Join(b.Read(b.Names.Parsed, 5), " "); !strings.Contains(all, "slow 1") || !strings.Contains(all, "slow 2") {
		t.Errorf("written in the end: %s", all)
	}
	if most.Load() != 2 {
		t.Errorf("%d slow records at a time, want 2", most.Load())
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	commits, err := b.Admin.FetchOffsets(t.Context(), b.Names.Group(topics.Parse))
	if err != nil {
		t.Fatal(err)
	}
	if at, _ := commits.Lookup(b.Names.Fetched, 0); at.At != 6 {
		t.Errorf("committed up to %d of 6", at.At)
	}
}

// A record that waits for its turn does not hold up the end of its stage.
func TestLaneEnds(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Write(b.Names.Fetched, "1", "2", "3")
	began := make(chan struct{}, 3)
	end := stagetest.During(t, func(ctx context.Context) error {
		lane := stage.NewLane(1, 1<<20, func(*kgo.Record) bool { return true })
		defer lane.Wait()
		return b.RunWorker(ctx, stage.Worker{
			Stage: topics.Parse, Limit: stage.Limit{Goroutines: 1, Records: 10, Bytes: 1 << 20},
			Handler: func(working context.Context, task *stage.Task) {
				began <- struct{}{}
				<-ctx.Done()
				task.Finish(working, nil, "")
			},
			Lane: lane,
		})
	})
	<-began
	if err := end(); err != nil {
		t.Error(err)
	}
	if len(began) > 0 {
		t.Errorf("%d more records began", len(began))
	}
}
