package processors

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/memstore"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

func paused(stages ...topics.Stage) topics.Control { return topics.Control{Paused: stages} }

// quiet checks that a topic has n records still after its stage has had the
// time to read more.
func (b workbench) quiet(topic string, n int64) {
	b.t.Helper()
	time.Sleep(300 * time.Millisecond) // that nothing happens shows in time only
	ends, err := b.admin.ListEndOffsets(b.t.Context(), topic)
	if err != nil {
		b.t.Fatal(err)
	}
	if end, _ := ends.Lookup(topic, 0); end.Offset != n {
		b.t.Errorf("%s has %d records, want %d", topic, end.Offset, n)
	}
}

func TestHeldWorkerTakesNothing(t *testing.T) {
	b := newWorkbench(t)
	b.Brakes = NewBrakes(paused(topics.Parse))
	b.write(b.Names.Fetched, "a", "b")
	end := during(t, func(ctx context.Context) error {
		return b.stateless(ctx, topics.Parse, limit{goroutines: 2, records: 10, bytes: 1 << 20}, func(out *outbox) handle {
			return out.transforming(func(r *kgo.Record) ([]Output, string) {
				return []Output{{Topic: b.Names.Parsed, Domain: "k.example", Key: "k", Value: r.Value}}, ""
			})
		})
	})
	b.quiet(b.Names.Parsed, 0)
	b.Brakes.Set(topics.Control{})
	b.read(b.Names.Parsed, 2)
	b.Brakes.Set(paused(topics.Parse, topics.Fetch))
	b.write(b.Names.Fetched, "c")
	b.quiet(b.Names.Parsed, 2)
	b.Brakes.Set(paused(topics.Fetch))
	b.read(b.Names.Parsed, 3)
	if err := end(); err != nil {
		t.Error(err)
	}
}

// Brakes that have been set are on: nothing passes between the order and the pause.
func TestBrakesAreOnWhenTheyAreSet(t *testing.T) {
	client, err := kgo.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	e := Env{Names: topics.Loop("weft"), Brakes: NewBrakes(paused(topics.Parse))}
	is := func(want ...string) {
		t.Helper()
		if got := client.PauseFetchTopics(); !slices.Equal(got, want) {
			t.Fatalf("paused %q, want %q", got, want)
		}
	}
	release := e.brake(topics.Parse, client)
	is(e.Names.Fetched)
	for range 100 { // who acts later may be early now and then
		e.Brakes.Set(paused(topics.Fetch))
		is()
		e.Brakes.Set(paused(topics.Parse))
		is(e.Names.Fetched)
	}
	release()
	e.Brakes.Set(topics.Control{})
	is(e.Names.Fetched) // the client is no longer asked
}

func TestHeldLedgerTakesNothing(t *testing.T) {
	b := newWorkbench(t)
	b.Brakes = NewBrakes(paused(topics.Dedupe))
	b.write(b.Names.Normalized, "a", "b")
	end := during(t, func(ctx context.Context) error {
		return stateful(ctx, b.Env, topics.Dedupe, b.echoing(func([]byte) {}, func([]byte) {}))
	})
	b.read(b.Names.Deduped, 1) // the claim: it has its place in the group
	b.quiet(b.Names.Deduped, 1)
	b.Brakes.Set(topics.Control{})
	b.read(b.Names.Deduped, 3)
	b.Brakes.Set(paused(topics.Dedupe))
	b.write(b.Names.Normalized, "c")
	b.quiet(b.Names.Deduped, 3)
	b.Brakes.Set(topics.Control{})
	b.read(b.Names.Deduped, 4)
	if err := end(); err != nil {
		t.Error(err)
	}
}

// clockwork is a state whose timer is always due.
type clockwork struct{ echo }

func (clockwork) Due(time.Time, int) []string { return []string{"k.example"} }

// What was reported while a stage was held is settled before timers take it for
// late.
func TestTimersWaitForWhatCameDuringAHold(t *testing.T) {
	b := newWorkbench(t)
	b.Brakes = NewBrakes(paused(topics.Schedule))
	b.write(b.Names.Visited, "a", "b", "c")
	var order []string
	ticked := make(chan struct{})
	stage := ledger.Stage[clockwork]{
		Ledger: b.Names.Scheduled,
		Inputs: []ledger.Input[clockwork]{
			{Topic: b.Names.Deduped, Events: true, Decide: func(clockwork, ledger.Record, time.Time, int64) ([]byte, error) { return nil, nil }},
			{Topic: b.Names.Visited, Decide: func(_ clockwork, in ledger.Record, _ time.Time, _ int64) ([]byte, error) {
				order = append(order, string(in.Value))
				return nil, nil
			}},
		},
		Open: func(int32, ledger.Store) (clockwork, error) {
			return clockwork{echo{func([]byte) {}}}, nil
		},
		Tick: func(_ clockwork, key string, _ time.Time, _ int64) ([]byte, error) {
			if len(order) > 0 && order[len(order)-1] == "tick" {
				return nil, nil
			}
			order = append(order, "tick")
			close(ticked)
			return nil, nil
		},
	}
	end := during(t, func(ctx context.Context) error { return stateful(ctx, b.Env, topics.Schedule, stage) })
	b.read(b.Names.Scheduled, 1)
	b.Brakes.Set(topics.Control{})
	select {
	case <-ticked:
	case <-time.After(bound):
		t.Error("no timer came")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if len(order) != 4 || order[3] != "tick" {
		t.Errorf("in this order: %v", order)
	}
}

func TestReleasesAreHeld(t *testing.T) {
	opts := FrontierOptions(topics.Definition{PerDomain: 1})
	opts.Allowed = allowed()
	hold := &queues{hold: new(atomic.Bool), frontier: frontier.New(opts, new(memstore.Store))}
	if hold.moment(time.Now(), 0).Hold {
		t.Error("without brakes releases are held")
	}
	hold.brakes = NewBrakes(paused(topics.Fetch))
	if !hold.moment(time.Now(), 0).Hold {
		t.Error("while fetch is paused visits are released")
	}
	hold.brakes.Set(topics.Control{Draining: true})
	if !hold.moment(time.Now(), 0).Hold {
		t.Error("while the crawl drains visits are released")
	}
	hold.brakes.Set(paused(topics.Normalize))
	if hold.moment(time.Now(), 0).Hold {
		t.Error("while normalize is paused no visits are released")
	}
}

// A paused fetch gives back what it was given, and asks for nothing.
func TestPausedFetchGivesVisitsBack(t *testing.T) {
	h := takeOver(t)
	h.resting.Store(false)
	h.env.Brakes = NewBrakes(paused(topics.Fetch))
	h.env.Meter = &counted{}
	client, err := fetch.New(fetch.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	h.http = client
	h.settle()
	h.fold()
	h.begin()
	reported := map[string]*weftpb.Visited{}
	for len(reported) < 2 {
		for _, v := range h.reportedNow() {
			reported[v.Visit] = v
		}
		if t.Context().Err() != nil {
			t.Fatal("the visits are not given back")
		}
	}
	for id, v := range reported {
		if !v.Done || len(v.Outcomes) != 3 {
			t.Errorf("report of %s: %v", id, v)
		}
		for _, o := range v.Outcomes {
			if !o.Skipped {
				t.Errorf("outcome of %s: %v", id, o)
			}
		}
	}
}
