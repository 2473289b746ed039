package stage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

func TestPanicOnARecordSetsItAside(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Write(b.Names.Fetched, "a", "boom", "b", "c")
	end := stagetest.During(t, func(ctx context.Context) error {
		return b.RunWorker(ctx, stage.Worker{
			Stage: topics.Parse, Limit: stage.Limit{Goroutines: 2, Records: 10, Bytes: 1 << 20},
			Handler: stage.Transform(func(r *kgo.Record) ([]stage.Output, string) {
				stagetest.Stumble(r.Value)
				return []stage.Output{{Topic: b.Names.Parsed, Domain: "k.example", Key: "k", Value: r.Value}}, ""
			}).Handle,
		})
	})
	b.Read(b.Names.Parsed, 3)
	b.SetAside(topics.Parse, b.Names.Fetched, 1, "boom")
	if err := end(); err != nil {
		t.Error(err)
	}
	commits, err := b.Admin.FetchOffsets(t.Context(), b.Names.Group(topics.Parse))
	if err != nil {
		t.Fatal(err)
	}
	if at, _ := commits.Lookup(b.Names.Fetched, 0); at.At != 4 {
		t.Errorf("committed up to %d of 4", at.At)
	}
}

// echo is a ledger's state that repeats its input.
type echo struct {
	ledger.Untimed
	decide, fold func(body []byte)
}

func (e echo) Decide(in ledger.InputRecord, _ time.Time, _ int64) ([]byte, error) {
	e.decide(in.Value)
	return in.Value, nil
}
func (e echo) Apply(_ string, body []byte, _ int64) error { e.fold(body); return nil }

func TestPanicInADecisionSetsItsInputAside(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Write(b.Names.Normalized, "a", "boom", "b")
	end := stagetest.During(t, func(ctx context.Context) error {
		return stage.Stateful(ctx, b.Env, topics.Dedupe, echoing(b, stagetest.Stumble, func([]byte) {}))
	})
	b.SetAside(topics.Dedupe, b.Names.Normalized, 1, "boom")
	var bodies []string
	for _, raw := range b.Read(b.Names.Deduped, 3) { // with the claim
		var ev weftpb.Event
		if err := proto.Unmarshal([]byte(raw), &ev); err != nil {
			t.Fatal(err)
		}
		if len(ev.Body) > 0 {
			bodies = append(bodies, string(ev.Body))
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, bodies); diff != "" {
		t.Errorf("the ledger, -want +got:\n%s", diff)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestPanicInAFoldIsFatal(t *testing.T) {
	b := stagetest.NewWorkbench(t)
	b.Write(b.Names.Normalized, "a", "boom", "b")
	ctx, cancel := context.WithTimeout(t.Context(), stagetest.Bound)
	defer cancel()
	err := stage.Stateful(ctx, b.Env, topics.Dedupe, echoing(b, func([]byte) {}, stagetest.Stumble))
	if !errors.Is(err, ledger.ErrPanic) || !strings.Contains(err.Error(), "what a bug") || !strings.Contains(err.Error(), b.Names.Deduped+"/0") {
		t.Errorf("the stage ended with: %v", err)
	}
	if !strings.Contains(b.Log.String(), "panic_test.go") {
		t.Errorf("the log does not say where it was:\n%s", b.Log)
	}
}

// echoing is a stage that repeats its input; decide and fold may panic.
func echoing(b stagetest.Workbench, decide, fold func([]byte)) ledger.Processor {
	return ledger.Processor{
		Ledger: b.Names.Deduped,
		Inputs: []ledger.Input{{Topic: b.Names.Normalized}},
		Open: func(int32, ledger.Store) (ledger.State, error) {
			return echo{decide: decide, fold: fold}, nil
		},
	}
}
