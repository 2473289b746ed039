package processors

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/replay"
	"github.com/weftcrawl/weft/topics"
)

// taken is a partition that was taken over: its former owner had two visits
// out, of three requests each, had fetched some of them and reported others.
type taken struct {
	*fetcher
	t     *testing.T
	board *Board
}

func takeOver(t *testing.T, fetched ...*weftpb.Fetched) taken {
	t.Helper()
	return takeOverReleased(t, time.Time{}, fetched...)
}

// takeOverReleased is takeOver of visits that were released at a time.
func takeOverReleased(t *testing.T, released time.Time, fetched ...*weftpb.Fetched) taken {
	t.Helper()
	f := taker(t, 1)
	reporter, err := f.env.producer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reporter.Close)
	f.reports = &outbox{env: f.env, client: reporter}
	f.asking = &requests{fetcher: f}
	f.lanes = lanes.New(lanes.Defaults(), f.asking)
	f.resting.Store(true) // nothing is asked for, and nothing is waited for long
	release := &weftpb.Scheduled{Gauges: &weftpb.Gauges{Pending: 6}, Oldest: 1, DecidedMs: released.UnixMilli()}
	for _, id := range []string{"a", "b"} {
		v := &weftpb.Visit{Id: id}
		for range 3 {
			v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: "http://x.example/"}})
		}
		release.Released = append(release.Released, v)
	}
	have := taken{fetcher: f, t: t}
	have.write(f.env.Names.Scheduled, encode(&weftpb.Event{Claim: &weftpb.Claim{}}))
	have.write(f.env.Names.Scheduled, encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: encode(release)}))
	have.write(f.env.Names.Visited, encode(&weftpb.Visited{Visit: "a"}))
	for _, record := range fetched {
		have.write(f.env.Names.Fetched, encode(record))
	}
	if _, err := f.take(t.Context(), map[string]map[int32]kgo.Offset{f.env.Names.Scheduled: {0: kgo.NewOffset()}}); err != nil {
		t.Fatal(err)
	}
	have.board = f.board(0)
	t.Cleanup(func() { f.endAll(); f.lanes.Close() })
	return have
}

func (h taken) write(topic string, value []byte) {
	h.t.Helper()
	r := &kgo.Record{Topic: topic, Key: []byte("x.example"), Value: value}
	if err := h.out.client.ProduceSync(h.t.Context(), r).FirstErr(); err != nil {
		h.t.Fatal(err)
	}
}

// fold folds what there is of scheduled, and settle commits visited as the
// scheduler does.
func (h taken) fold() {
	h.t.Helper()
	h.from(h.env.Names.Scheduled, h.board.next, func(r *kgo.Record) error {
		_, err := h.board.Fold(string(r.Key), r.Value, 0, r.Offset)
		return err
	})
}

// from reads a topic from an offset on.
func (h taken) from(topic string, offset int64, visit func(*kgo.Record) error) {
	h.t.Helper()
	log, err := h.logs.Bounds(h.t.Context(), topic, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	rest := map[int32]replay.Bounds{0: {Start: offset, End: log[0].End}}
	if err := h.logs.Range(h.t.Context(), topic, rest, visit); err != nil {
		h.t.Fatal(err)
	}
}

func (h taken) settle() {
	h.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(h.env.Names.Visited, 0, 1, -1)
	if err := kadm.NewClient(h.out.client).CommitAllOffsets(h.t.Context(), h.env.Names.Group(topics.Schedule), offsets); err != nil {
		h.t.Fatal(err)
	}
}

func (h taken) begin() {
	h.t.Helper()
	if err := h.beginSettled(h.t.Context(), h.waiting()); err != nil {
		h.t.Fatal(err)
	}
}

// reported are the outcomes in visited after what was there before.
func (h taken) reportedNow() (all []*weftpb.Visited) {
	h.t.Helper()
	if err := h.reports.client.Flush(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.from(h.env.Names.Visited, 1, func(r *kgo.Record) error {
		v := new(weftpb.Visited)
		all = append(all, v)
		return proto.Unmarshal(r.Value, v)
	})
	return all
}

// What was reported before the takeover is settled, and the settlement folded,
// before anything is started.
func TestBoardWaitsForWhatWasReported(t *testing.T) {
	h := takeOver(t)
	h.begin()
	if h.board.live {
		t.Fatal("it begins before anything is folded")
	}
	h.fold()
	h.begin()
	if h.board.live {
		t.Fatal("it begins before the scheduler has settled what was reported")
	}
	settled := &weftpb.Scheduled{Gauges: &weftpb.Gauges{Pending: 3}, Oldest: 1}
	for i := range uint32(3) {
		settled.Settled = append(settled.Settled, &weftpb.Settlement{Visit: "a", Index: i})
	}
	h.write(h.env.Names.Scheduled, encode(&weftpb.Event{Epoch: 1, Offset: 2, Body: encode(settled)}))
	h.settle()
	h.begin()
	if h.board.live {
		t.Fatal("it begins before the settlement is folded")
	}
	h.fold()
	h.begin()
	left := h.board.visits
	if !h.board.live || len(left) != 1 || left["b"] == nil {
		t.Errorf("live: %v, with the visits %v", h.board.live, left)
	}
}

// What was fetched and not reported is reported, and not asked for again.
func TestBoardReportsWhatWasFetched(t *testing.T) {
	for name, released := range map[string]time.Time{
		"": time.Now(), "the clock was set back since": time.Now().Add(time.Hour),
	} {
		t.Run(name, func(t *testing.T) { reportsWhatWasFetched(t, released) })
	}
}

func reportsWhatWasFetched(t *testing.T, released time.Time) {
	h := takeOverReleased(t, released,
		&weftpb.Fetched{Visit: "a", Outcome: &weftpb.Outcome{Index: 0, Status: 200}},
		&weftpb.Fetched{Visit: "former", Outcome: &weftpb.Outcome{Index: 1, Status: 200}},
		&weftpb.Fetched{Visit: "a", Outcome: &weftpb.Outcome{Index: 1, Status: 404}},
	)
	h.settle()
	h.fold()
	h.begin()
	got := h.reportedNow()
	if len(got) != 1 || got[0].Visit != "a" || got[0].Done || len(got[0].Outcomes) != 2 {
		t.Fatalf("reported %v", got)
	}
	a, b := h.board.visits["a"].visit, h.board.visits["b"].visit
	if !a.Settled[0] || !a.Settled[1] || a.Settled[2] || len(b.Settled) != 0 {
		t.Errorf("settled of a: %v, of b: %v", a.Settled, b.Settled)
	}
}

// A failure that was fetched and not reported ends its visit.
func TestFetchedFailureEndsTheVisit(t *testing.T) {
	h := takeOver(t, &weftpb.Fetched{Visit: "b", Outcome: &weftpb.Outcome{Index: 0, Status: 503, RetryAfterMs: 9000}})
	h.settle()
	h.fold()
	h.begin()
	got := h.reportedNow()
	if len(got) != 1 || got[0].Visit != "b" || !got[0].Done || len(got[0].Outcomes) != 3 {
		t.Fatalf("reported %v", got)
	}
	skipped := slices.ContainsFunc(got[0].Outcomes[1:], func(o *weftpb.Outcome) bool { return !o.Skipped })
	if got[0].Outcomes[0].RetryAfterMs != 9000 || skipped {
		t.Errorf("reported %v", got[0].Outcomes)
	}
}
