package processors

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// counted is a Meter that counts what is rejected.
type counted struct {
	silent
	mu       sync.Mutex
	rejected map[string]int
}

func (c *counted) Rejected(stage topics.Stage, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejected[string(stage)+" "+reason]++
}

func (c *counted) Ledger(topics.Stage, string) {}
func (c *counted) Exchange(*fetch.Exchange)    {}
func (c *counted) Slots(int)                   {}
func (c *counted) Page(int)                    {}
func (c *counted) Duplicate(int)               {}

// safeBuffer is a log that may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// workbench is an environment on an embedded broker with the topics of a crawl.
type workbench struct {
	Env
	t     *testing.T
	log   *safeBuffer
	meter *counted
	admin *kadm.Client
	*kgo.Client
}

func newWorkbench(t *testing.T) workbench {
	t.Helper()
	f := taker(t, 1)
	b := workbench{
		Env: f.env, t: t, log: new(safeBuffer), meter: &counted{rejected: map[string]int{}},
		admin: kadm.NewClient(f.out.client), Client: f.out.client,
	}
	b.Meter, b.Logger, b.Dir, b.Member = b.meter, slog.New(slog.NewTextHandler(b.log, nil)), t.TempDir(), "test"
	b.SessionTimeout, b.Heartbeat = 10*time.Second, 100*time.Millisecond
	return b
}

// write writes values to a topic, one record each.
func (b workbench) write(topic string, values ...string) {
	b.t.Helper()
	for _, v := range values {
		r := &kgo.Record{Topic: topic, Key: []byte("k.example"), Value: []byte(v)}
		if err := b.ProduceSync(b.t.Context(), r).FirstErr(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// bound is how long a test waits for what must happen.
const bound = time.Minute

// read waits for n records of a topic.
func (b workbench) read(topic string, n int) (values []string) {
	b.t.Helper()
	client, err := b.client(kgo.ConsumeTopics(topic))
	if err != nil {
		b.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(b.t.Context(), bound)
	defer cancel()
	for len(values) < n {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
		if ctx.Err() != nil {
			b.t.Fatalf("%s has %d records, want %d", topic, len(values), n)
		}
	}
	return values
}

// during runs work until its end is asked for by the function returned.
func during(t *testing.T, work func(context.Context) error) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	return func() error { cancel(); return <-done }
}

// setAside holds the one record in rejected against what was written.
func (b workbench) setAside(stage topics.Stage, topic string, offset int64, value string) {
	b.t.Helper()
	r, err := codecs.DecodeRejected([]byte(b.read(b.Names.Rejected, 1)[0]))
	if err != nil {
		b.t.Fatal(err)
	}
	r.AtMs = 0
	want := &weftpb.Rejected{
		Stage: string(stage), Topic: topic, Offset: offset, Reason: "panic",
		Key: []byte("k.example"), Value: []byte(value), ValueBytes: int64(len(value)),
	}
	if !proto.Equal(r, want) {
		b.t.Errorf("rejected: %v, want %v", r, want)
	}
	if b.meter.rejected[string(stage)+" panic"] != 1 {
		b.t.Errorf("counted: %v", b.meter.rejected)
	}
	log := b.log.String()
	if !strings.Contains(log, "guard_test.go") || !strings.Contains(log, "what a bug") {
		b.t.Errorf("the log does not say where it was:\n%s", log)
	}
}

// stumble panics on one value.
func stumble(value []byte) {
	if string(value) == "boom" {
		panic("what a bug")
	}
}

func TestPanicOnARecordSetsItAside(t *testing.T) {
	b := newWorkbench(t)
	b.write(b.Names.Fetched, "a", "boom", "b", "c")
	end := during(t, func(ctx context.Context) error {
		return b.stateless(ctx, topics.Parse, limit{goroutines: 2, records: 10, bytes: 1 << 20}, func(out *outbox) handle {
			return out.transforming(func(r *kgo.Record) ([]Output, string) {
				stumble(r.Value)
				return []Output{{Topic: b.Names.Parsed, Domain: "k.example", Key: "k", Value: r.Value}}, ""
			})
		})
	})
	b.read(b.Names.Parsed, 3)
	b.setAside(topics.Parse, b.Names.Fetched, 1, "boom")
	if err := end(); err != nil {
		t.Error(err)
	}
	commits, err := b.admin.FetchOffsets(t.Context(), b.Names.Group(topics.Parse))
	if err != nil {
		t.Fatal(err)
	}
	if at, _ := commits.Lookup(b.Names.Fetched, 0); at.At != 4 {
		t.Errorf("committed up to %d of 4", at.At)
	}
}

// echo is a ledger's state that panics in the fold of what it is told to.
type echo struct{ fold func(body []byte) }

func (e echo) Apply(_ string, body []byte, _ int64) error { e.fold(body); return nil }
func (echo) Due(time.Time, int) []string                  { return nil }
func (echo) Close()                                       {}

// echoing is a stage that repeats its input; decide and fold may panic.
func (b workbench) echoing(decide, fold func([]byte)) ledger.Stage[echo] {
	return ledger.Stage[echo]{
		Ledger: b.Names.Deduped,
		Inputs: []ledger.Input[echo]{{Topic: b.Names.Normalized, Decide: func(_ echo, in ledger.Record, _ time.Time, _ int64) ([]byte, error) {
			decide(in.Value)
			return in.Value, nil
		}}},
		Open: func(int32, ledger.Store) (echo, error) { return echo{fold}, nil },
		Tick: func(echo, string, time.Time, int64) ([]byte, error) { stumble([]byte("boom")); return nil, nil },
	}
}

func TestPanicInADecisionSetsItsInputAside(t *testing.T) {
	b := newWorkbench(t)
	b.write(b.Names.Normalized, "a", "boom", "b")
	end := during(t, func(ctx context.Context) error {
		return stateful(ctx, b.Env, topics.Dedupe, b.echoing(stumble, func([]byte) {}))
	})
	b.setAside(topics.Dedupe, b.Names.Normalized, 1, "boom")
	var bodies []string
	for _, raw := range b.read(b.Names.Deduped, 3) { // with the claim
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
	b := newWorkbench(t)
	b.write(b.Names.Normalized, "a", "boom", "b")
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	err := stateful(ctx, b.Env, topics.Dedupe, b.echoing(func([]byte) {}, stumble))
	if !errors.Is(err, errPanic) || !strings.Contains(err.Error(), "what a bug") || !strings.Contains(err.Error(), b.Names.Deduped+"/0") {
		t.Errorf("the stage ended with: %v", err)
	}
	if !strings.Contains(b.log.String(), "guard_test.go") {
		t.Errorf("the log does not say where it was:\n%s", b.log)
	}
}

// A guarded stage does all that the stage does: one that was not told where its
// ledger begins waited for visits that a repair had cut off.
func TestGuardedStagesLackNothing(t *testing.T) {
	begins := int64(0)
	stage := ledger.Stage[echo]{
		Ledger: "l", Inputs: make([]ledger.Input[echo], 1),
		Open:     func(int32, ledger.Store) (echo, error) { return echo{}, nil },
		Tick:     func(echo, string, time.Time, int64) ([]byte, error) { return nil, nil },
		Begins:   func(_ echo, offset int64) { begins = offset },
		Snapshot: func(echo, time.Time, int64) ([]byte, error) { return nil, nil },
	}
	safe := guarded(Env{Logger: slog.New(slog.DiscardHandler)}, topics.Schedule, stage)
	for i, whole := 0, reflect.ValueOf(stage); i < whole.NumField(); i++ {
		name := whole.Type().Field(i).Name
		if whole.Field(i).IsZero() {
			t.Errorf("the test leaves %s out", name)
		}
		if reflect.ValueOf(safe).Field(i).IsZero() {
			t.Errorf("a guarded stage has no %s", name)
		}
	}
	s, err := safe.Open(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if safe.Begins(s, 7); begins != 7 {
		t.Errorf("it begins at %d", begins)
	}
}

func TestPanicOfATimerIsFatal(t *testing.T) {
	b := newWorkbench(t)
	stage := guarded(b.Env, topics.Dedupe, b.echoing(stumble, stumble))
	s, err := stage.Open(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Tick(s, "k.example", time.Now(), 1); !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "k.example") {
		t.Errorf("got %v", err)
	}
}

// wild makes exchanges that panic.
type wild struct{}

func (wild) Do(context.Context, fetch.Request) *fetch.Exchange { panic("what a bug \xff") }
func (wild) Robots(context.Context, string, func() bool, func(string) bool) []*fetch.Exchange {
	panic("what a bug")
}

func TestPanicOfAnExchangeIsItsOutcome(t *testing.T) {
	h := takeOver(t)
	meter := &counted{rejected: map[string]int{}}
	log := new(safeBuffer)
	h.env.Meter, h.env.Logger, h.http = meter, slog.New(slog.NewTextHandler(log, nil)), wild{}
	v := &lanes.Visit{Domain: "x.example", Visit: &weftpb.Visit{
		Id: "v", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/a"}}},
	}}
	if answer := h.asking.Request(t.Context(), v, 0); answer.Stop {
		t.Error("the visit ends")
	}
	robots := &lanes.Visit{Domain: "x.example", Visit: &weftpb.Visit{
		Id: "r", Robots: true, Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://x.example/robots.txt"}}},
	}}
	h.asking.Request(t.Context(), robots, 0)
	if err := h.out.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.asking.Finish(t.Context(), v, 1)
	h.asking.Finish(t.Context(), robots, 1)
	outcomes := map[string]*weftpb.Outcome{}
	for _, reported := range h.reportedNow() {
		for _, o := range reported.Outcomes {
			outcomes[reported.Visit] = o
		}
	}
	for _, id := range []string{"v", "r"} {
		if o := outcomes[id]; o.GetErrorClass() != "panic" || !strings.HasPrefix(o.GetError(), "what a bug") {
			t.Errorf("outcome of %s: %v", id, o)
		}
	}
	if !strings.Contains(log.String(), "guard_test.go") {
		t.Errorf("the log does not say where it was:\n%s", log)
	}
}

// clumsy are files that panic on one record.
type clumsy struct {
	mu      sync.Mutex
	written []string
}

func (c *clumsy) Append(_ int32, _ int64, record []byte) error {
	if bytes.Contains(record, []byte("boom")) {
		stumble([]byte("boom"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = append(c.written, string(record))
	return nil
}

func (c *clumsy) Skip(int32, int64) {}
func (c *clumsy) Flush() error      { return nil }
func (c *clumsy) Write(f *weftpb.Fetched) error {
	stumble(f.Body)
	return c.Append(0, 0, f.Body)
}

func TestPanicOnAPageSetsItAside(t *testing.T) {
	b := newWorkbench(t)
	b.Definition.Partitions = 1
	page := func(id string) string { return `{"id":"` + id + `","url":"http://a.example/"}` }
	b.write(b.Names.Parsed, page("a"), page("b"), page("boom"))
	files := new(clumsy)
	sink := &PageSink{env: b.Env, out: files, next: map[int32]int64{}, full: make(chan struct{})}
	end := during(t, sink.Run)
	b.setAside(topics.Pages, b.Names.Parsed, 2, page("boom"))
	if err := end(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{page("a"), page("b")}, files.written); diff != "" || !sink.Reached(map[int32]int64{0: 3}) {
		t.Errorf("reached the end: %v; files, -want +got:\n%s", sink.Reached(map[int32]int64{0: 3}), diff)
	}
}

// What others write to parsed is in no file: it would not be a line of JSON.
func TestStrangersAreNoPages(t *testing.T) {
	b := newWorkbench(t)
	b.Definition.Partitions = 1
	page := `{"id":"a","url":"http://a.example/"}`
	strangers := []string{"", "garbage", "{}", "[1]", "{\"id\":\"b\",\n\"url\":\"u\"}", page[:len(page)-1], string(encode(&weftpb.Normalized{Source: "s"}))}
	b.write(b.Names.Parsed, append([]string{page}, strangers...)...)
	files := new(clumsy)
	sink := &PageSink{env: b.Env, out: files, next: map[int32]int64{}, full: make(chan struct{})}
	end := during(t, sink.Run)
	b.read(b.Names.Rejected, len(strangers))
	if err := end(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{page}, files.written); diff != "" || sink.Written() != 1 {
		t.Errorf("%d written; files, -want +got:\n%s", sink.Written(), diff)
	}
}

func TestPanicOnAnArchivedExchangeSetsItAside(t *testing.T) {
	b := newWorkbench(t)
	exchange := func(body string) string { return string(encode(&weftpb.Fetched{Body: []byte(body)})) }
	b.write(b.Names.Fetched, exchange("a"), exchange("boom"), exchange("b"))
	client, err := b.client(kgo.ConsumerGroup(b.Names.Group(topics.WARC)), kgo.ConsumeTopics(b.Names.Fetched), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	aside, err := b.aside(topics.WARC)
	if err != nil {
		t.Fatal(err)
	}
	defer aside.client.Close()
	files := new(clumsy)
	end := during(t, func(ctx context.Context) error { return archive(ctx, client, files, aside) })
	b.setAside(topics.WARC, b.Names.Fetched, 1, exchange("boom"))
	if err := end(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, files.written); diff != "" {
		t.Errorf("files, -want +got:\n%s", diff)
	}
}
