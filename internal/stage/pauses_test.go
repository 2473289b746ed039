package stage_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// quiet checks that a topic has n records still after its stage has had the
// time to read more.
func quiet(b stagetest.Workbench, topic string, n int64) {
	b.T.Helper()
	time.Sleep(300 * time.Millisecond) // that nothing happens shows in time only
	ends, err := b.Admin.ListEndOffsets(b.T.Context(), topic)
	if err != nil {
		b.T.Fatal(err)
	}
	if end, _ := ends.Lookup(topic, 0); end.Offset != n {
		b.T.Errorf("%s has %d records, want %d", topic, end.Offset, n)
	}
}

func TestPausedWorkerTakesNothing(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Pauses = stage.NewPauses(stagetest.Paused(topics.Parse))
	b.Write(b.Names.Fetched, "a", "b")
	end := stagetest.During(t, func(ctx context.Context) error {
		return b.RunWorker(ctx, stage.Worker{
			Stage: topics.Parse, Limit: stage.Limit{Goroutines: 2, Records: 10, Bytes: 1 << 20},
			Handler: stage.Transform(func(r *kgo.Record) ([]stage.Output, string) {
				return []stage.Output{{Topic: b.Names.Parsed, Domain: "k.example", Key: "k", Value: r.Value}}, ""
			}).Handle,
		})
	})
	quiet(b, b.Names.Parsed, 0)
	b.Pauses.Set(topics.Control{})
	b.Read(b.Names.Parsed, 2)
	b.Pauses.Set(stagetest.Paused(topics.Parse, topics.Fetch))
	b.Write(b.Names.Fetched, "c")
	quiet(b, b.Names.Parsed, 2)
	b.Pauses.Set(stagetest.Paused(topics.Fetch))
	b.Read(b.Names.Parsed, 3)
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestPausedLedgerTakesNothing(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Pauses = stage.NewPauses(stagetest.Paused(topics.Dedupe))
	b.Write(b.Names.Normalized, "a", "b")
	end := stagetest.During(t, func(ctx context.Context) error {
		return stage.Stateful(ctx, b.Env, topics.Dedupe, echoing(b, func([]byte) {}, func([]byte) {}))
	})
	b.Read(b.Names.Deduped, 1) // the claim: it has its place in the group
	quiet(b, b.Names.Deduped, 1)
	b.Pauses.Set(topics.Control{})
	b.Read(b.Names.Deduped, 3)
	b.Pauses.Set(stagetest.Paused(topics.Dedupe))
	b.Write(b.Names.Normalized, "c")
	quiet(b, b.Names.Deduped, 3)
	b.Pauses.Set(topics.Control{})
	b.Read(b.Names.Deduped, 4)
	if err := end(); err != nil {
		t.Error(err)
	}
}

// clockwork is a state whose timer is always due.
type clockwork struct {
	echo
	tick func()
}

func (clockwork) Due(time.Time, int) []string { return []string{"k.example"} }

func (c clockwork) Tick(string, time.Time, int64) ([]byte, error) {
	c.tick()
	return nil, nil
}

// Decide makes no events.
func (c clockwork) Decide(in ledger.InputRecord, now time.Time, offset int64) ([]byte, error) {
	_, err := c.echo.Decide(in, now, offset)
	return nil, err
}

// What was reported while a stage was paused is settled before timers take it for
// late.
func TestTimersWaitForWhatCameDuringAPause(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Pauses = stage.NewPauses(stagetest.Paused(topics.Schedule))
	b.Write(b.Names.Visited, "a", "b", "c")
	var order []string
	ticked := make(chan struct{})
	state := clockwork{
		echo: echo{
			decide: func(value []byte) { order = append(order, string(value)) },
			fold:   func([]byte) {},
		},
		tick: func() {
			if len(order) > 0 && order[len(order)-1] == "tick" {
				return
			}
			order = append(order, "tick")
			close(ticked)
		},
	}
	def := ledger.Processor{
		Ledger: b.Names.Scheduled,
		Inputs: []ledger.Input{{Topic: b.Names.Deduped, Events: true}, {Topic: b.Names.Visited}},
		Open:   func(int32, ledger.Store) (ledger.State, error) { return state, nil },
	}
	end := stagetest.During(t, func(ctx context.Context) error { return stage.Stateful(ctx, b.Env, topics.Schedule, def) })
	b.Read(b.Names.Scheduled, 1)
	b.Pauses.Set(topics.Control{})
	select {
	case <-ticked:
	case <-time.After(stagetest.Bound):
		t.Error("no timer came")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if len(order) != 4 || order[3] != "tick" {
		t.Errorf("in this order: %v", order)
	}
}
