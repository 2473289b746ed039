package fetch

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/topics"
)

// takenOver is a partition that was taken over. Its former owner had two visits of three
// requests each, had fetched some of them, and had reported others.
type takenOver struct {
	testFetcher
	t      *testing.T
	visits *ReleasedVisits
}

func takeOver(t *testing.T, fetched ...*weftpb.Fetched) takenOver {
	t.Helper()
	return takeOverReleased(t, time.Time{}, fetched...)
}

// takeOverReleased is takeOver of visits that were released at a time.
func takeOverReleased(t *testing.T, released time.Time, fetched ...*weftpb.Fetched) takenOver {
	t.Helper()
	f := newTestFetcher(t, 1)
	f.requester.draining.Store(true) // no request is made, and nothing waits for long
	release := &weftpb.Scheduled{Gauges: &weftpb.Gauges{Pending: 6}, Oldest: 1, DecidedMs: released.UnixMilli()}
	for _, id := range []string{"a", "b"} {
		v := &weftpb.Visit{Id: id}
		for range 3 {
			v.Requests = append(v.Requests, &weftpb.Request{Target: &weftpb.Target{Url: "http://x.example/"}})
		}
		release.Released = append(release.Released, v)
	}
	have := takenOver{testFetcher: f, t: t}
	have.writeTo(f.env.Names.Scheduled, stage.Encode(&weftpb.Event{Claim: &weftpb.Claim{}}))
	have.writeTo(f.env.Names.Scheduled, stage.Encode(&weftpb.Event{Epoch: 1, Offset: 1, Body: stage.Encode(release)}))
	have.writeTo(f.env.Names.Visited, stage.Encode(&weftpb.Visited{Visit: "a"}))
	for _, record := range fetched {
		have.writeTo(f.env.Names.Fetched, stage.Encode(record))
	}
	if _, err := f.assign(t, map[int32]kgo.Offset{0: kgo.NewOffset()}); err != nil {
		t.Fatal(err)
	}
	have.visits = f.assignment.partitions.get(0).visits
	return have
}

// with changes the environment of the requester, and what makes its exchanges.
func (h takenOver) with(http Exchanger, change func(*stage.Env)) {
	h.requester.http = http
	change(&h.requester.env)
	change(&h.requester.witness.env)
}

func (h takenOver) writeTo(topic string, value []byte) {
	h.t.Helper()
	h.write(h.t, &kgo.Record{Topic: topic, Key: []byte("x.example"), Value: value})
}

// fold folds what there is of scheduled. settle commits visited as the scheduler does.
func (h takenOver) fold() {
	h.t.Helper()
	h.from(h.env.Names.Scheduled, h.visits.next, func(r *kgo.Record) error {
		_, err := h.visits.Fold(string(r.Key), r.Value, 0, r.Offset)
		return err
	})
}

// from reads a topic from an offset on.
func (h takenOver) from(topic string, offset int64, visit func(*kgo.Record) error) {
	h.t.Helper()
	log, err := h.logs.Bounds(h.t.Context(), topic, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	rest := map[int32]topiclog.Bounds{0: {Start: offset, End: log[0].End}}
	if err := h.logs.Range(h.t.Context(), topic, rest, visit); err != nil {
		h.t.Fatal(err)
	}
}

func (h takenOver) settle() {
	h.t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(h.env.Names.Visited, 0, 1, -1)
	if err := kadm.NewClient(h.fetched.Client).CommitAllOffsets(h.t.Context(), h.env.Names.Group(topics.Schedule), offsets); err != nil {
		h.t.Fatal(err)
	}
}

func (h takenOver) complete() {
	h.t.Helper()
	if err := h.assignment.completeSettled(h.t.Context(), h.assignment.partitions.takingOver()); err != nil {
		h.t.Fatal(err)
	}
}

// reportedNow are the records in visited after those that were there before.
func (h takenOver) reportedNow() (all []*weftpb.Visited) {
	h.t.Helper()
	if err := h.visited.Flush(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.from(h.env.Names.Visited, 1, func(r *kgo.Record) error {
		v := new(weftpb.Visited)
		all = append(all, v)
		return proto.Unmarshal(r.Value, v)
	})
	return all
}

// TestEarliestRequestAfterATakeover checks from when on a domain may be asked after a takeover, less
// its delay.
func TestEarliestRequestAfterATakeover(t *testing.T) {
	at, margin := time.Unix(1000, 0), time.Second
	used := &weftpb.Scheduled{Gauges: &weftpb.Gauges{Fetched: 1}}
	for name, c := range map[string]struct {
		alone bool
		last  *weftpb.Scheduled
		want  time.Time
	}{
		"the former fetcher may have asked until now": {false, used, at.Add(margin)},
		"another fetcher may be there":                {false, nil, at.Add(margin)},
		"the former fetcher has ended":                {true, used, at},
		"there was no former fetcher":                 {true, nil, time.Time{}},
	} {
		visits := TakeOver(t.Context(), Takeover{Topic: "scheduled", End: 1, Last: c.last, At: at, Margin: margin, Alone: c.alone})
		if !visits.earliest.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, visits.earliest, c.want)
		}
	}
}

// What was reported before the takeover is settled, and the settlement folded,
// before anything is started.
func TestTakeoverWaitsForWhatWasReported(t *testing.T) {
	h := takeOver(t)
	h.complete()
	if h.visits.live {
		t.Fatal("it goes live before anything is folded")
	}
	h.fold()
	h.complete()
	if h.visits.live {
		t.Fatal("it goes live before the scheduler has settled what was reported")
	}
	settled := &weftpb.Scheduled{Gauges: &weftpb.Gauges{Pending: 3}, Oldest: 1}
	for i := range uint32(3) {
		settled.Settled = append(settled.Settled, &weftpb.Settlement{Visit: "a", Index: i})
	}
	h.writeTo(h.env.Names.Scheduled, stage.Encode(&weftpb.Event{Epoch: 1, Offset: 2, Body: stage.Encode(settled)}))
	h.settle()
	h.complete()
	if h.visits.live {
		t.Fatal("it goes live before the settlement is folded")
	}
	h.fold()
	h.complete()
	left := h.visits.visits
	if !h.visits.live || len(left) != 1 || left["b"] == nil {
		t.Errorf("live: %v, with the visits %v", h.visits.live, left)
	}
}

// What was fetched and not reported is reported, and not asked for again.
func TestTakeoverReportsWhatWasFetched(t *testing.T) {
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
	h.complete()
	got := h.reportedNow()
	if len(got) != 1 || got[0].Visit != "a" || got[0].Done || len(got[0].Outcomes) != 2 {
		t.Fatalf("reported %v", got)
	}
	a, b := h.visits.visits["a"].Visit, h.visits.visits["b"].Visit
	if !a.Settled[0] || !a.Settled[1] || a.Settled[2] || len(b.Settled) != 0 {
		t.Errorf("settled of a: %v, of b: %v", a.Settled, b.Settled)
	}
}

// A failure that was fetched and not reported ends its visit.
func TestFetchedFailureEndsTheVisit(t *testing.T) {
	h := takeOver(t, &weftpb.Fetched{Visit: "b", Outcome: &weftpb.Outcome{Index: 0, Status: 503, RetryAfterMs: 9000}})
	h.settle()
	h.fold()
	h.complete()
	got := h.reportedNow()
	if len(got) != 1 || got[0].Visit != "b" || !got[0].Done || len(got[0].Outcomes) != 3 {
		t.Fatalf("reported %v", got)
	}
	skipped := slices.ContainsFunc(got[0].Outcomes[1:], func(o *weftpb.Outcome) bool { return !o.Skipped })
	if got[0].Outcomes[0].RetryAfterMs != 9000 || skipped {
		t.Errorf("reported %v", got[0].Outcomes)
	}
}
