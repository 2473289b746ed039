// Package stagetest has what tests of the stages share: an embedded broker with the
// topics of a crawl, meters, a bucket that fails, and the fold of a ledger.
package stagetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/bodies"
	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// OpenLoop returns an environment with an embedded broker, whose topics are there
// and empty.
func OpenLoop(t *testing.T, partitions int32) stage.Env {
	t.Helper()
	b, err := broker.Open(broker.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Listener: broker.Listener{Trusted: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	// With a dialer, as members have one: so no client sends its metrics.
	env := stage.Env{Cluster: kafka.Access{Brokers: []string{b.Addr()}, Dial: new(net.Dialer).DialContext}, Compression: "none", Names: topics.Loop("test"), Meter: stage.NoMeter{}}
	env.Definition.Partitions = partitions
	client, err := env.Cluster.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	spec := topics.Spec{Crawl: "test", Partitions: partitions, Replication: 1}
	if _, err := topics.Create(t.Context(), kadm.NewClient(client), spec); err != nil {
		t.Fatal(err)
	}
	return env
}

// SafeBuffer is a log that may be read while it is written.
type SafeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *SafeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *SafeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// Workbench is an environment on an embedded broker with the topics of a crawl.
type Workbench struct {
	stage.Env
	T   *testing.T
	Log *SafeBuffer
	// Counts is the environment's Meter.
	Counts *Counter
	Admin  *kadm.Client

	producer *kgo.Client
}

// NewWorkbench returns an environment whose broker ends with the test.
func NewWorkbench(t *testing.T) Workbench {
	t.Helper()
	env := OpenLoop(t, 1)
	client, err := env.Producer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	b := Workbench{
		Env: env, T: t, Log: new(SafeBuffer), Counts: &Counter{Reasons: map[string]int{}},
		Admin: kadm.NewClient(client), producer: client,
	}
	b.Meter, b.Logger, b.Dir, b.Member = b.Counts, slog.New(slog.NewTextHandler(b.Log, nil)), t.TempDir(), "test"
	b.SessionTimeout, b.Heartbeat = 10*time.Second, 100*time.Millisecond
	return b
}

// Write writes values to a topic, one record each.
func (b Workbench) Write(topic string, values ...string) {
	b.T.Helper()
	for _, v := range values {
		r := &kgo.Record{Topic: topic, Key: []byte("k.example"), Value: []byte(v)}
		if err := b.producer.ProduceSync(b.T.Context(), r).FirstErr(); err != nil {
			b.T.Fatal(err)
		}
	}
}

// Bound is how long a test waits for what must happen.
const Bound = time.Minute

// Read waits for n records of a topic.
func (b Workbench) Read(topic string, n int) (values []string) {
	b.T.Helper()
	client, err := b.Cluster.NewClient(kgo.ConsumeTopics(topic))
	if err != nil {
		b.T.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(b.T.Context(), Bound)
	defer cancel()
	for len(values) < n {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
		if ctx.Err() != nil {
			b.T.Fatalf("%s has %d records, want %d", topic, len(values), n)
		}
	}
	return values
}

// During runs work until its end is asked for by the function returned.
func During(t *testing.T, work func(context.Context) error) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	return func() error { cancel(); return <-done }
}

// SetAside holds the one record in rejected against what was written. The log
// names the file of the code that panicked.
func (b Workbench) SetAside(stage topics.Stage, topic string, offset int64, value string) {
	b.T.Helper()
	r, err := codecs.DecodeRejected([]byte(b.Read(b.Names.Rejected, 1)[0]))
	if err != nil {
		b.T.Fatal(err)
	}
	r.AtMs = 0
	want := &weftpb.Rejected{
		Stage: string(stage), Topic: topic, Offset: offset, Reason: "panic",
		Key: []byte("k.example"), Value: []byte(value), ValueBytes: int64(len(value)),
	}
	if !proto.Equal(r, want) {
		b.T.Errorf("rejected: %v, want %v", r, want)
	}
	if b.Counts.Reasons[string(stage)+" panic"] != 1 {
		b.T.Errorf("counted: %v", b.Counts.Reasons)
	}
	log := b.Log.String()
	if !strings.Contains(log, "stagetest") || !strings.Contains(log, "what a bug") {
		b.T.Errorf("the log does not say where it was:\n%s", log)
	}
}

// Stumble panics on one value.
func Stumble(value []byte) {
	if string(value) == "boom" {
		panic("what a bug")
	}
}

// Flaky is a bucket that fails while it is down, and counts what it is asked for
// then.
type Flaky struct {
	blob.Bucket
	Down  atomic.Bool
	Asked atomic.Int64
}

func (f *Flaky) trouble() error {
	if f.Down.Load() {
		f.Asked.Add(1)
		return errors.New("the bucket is down")
	}
	return nil
}

// Put implements blob.Bucket.
func (f *Flaky) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.Put(ctx, key, body, size)
}

// PutNew implements blob.Bucket.
func (f *Flaky) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.PutNew(ctx, key, body, size)
}

// GetRange implements blob.Bucket.
func (f *Flaky) GetRange(ctx context.Context, key string, offset, length int64, w io.Writer) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.GetRange(ctx, key, offset, length, w)
}

// Get implements blob.Bucket.
func (f *Flaky) Get(ctx context.Context, key string, w io.Writer) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.Get(ctx, key, w)
}

// Delete implements blob.Bucket.
func (f *Flaky) Delete(ctx context.Context, key string) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.Delete(ctx, key)
}

// WithBodies gives the environment a store in a folder.
func (b *Workbench) WithBodies() (dir string, bucket *Flaky) {
	b.T.Helper()
	dir = b.T.TempDir()
	inner, err := blob.Open(b.T.Context(), dir)
	if err != nil {
		b.T.Fatal(err)
	}
	bucket = &Flaky{Bucket: inner}
	b.Bodies = bodies.New(bucket, kadm.TopicID{1}, b.Logger)
	return dir, bucket
}

// Page puts a page of a title into the store, and returns the record of its
// exchange.
func (b Workbench) Page(title string) (value []byte, key string) {
	b.T.Helper()
	url := "http://k.example/" + title
	body := "<title>" + title + "</title>" + strings.Repeat("<p>text</p>", 1000)
	ref, err := b.Bodies.Put(b.T.Context(), 0, title, []byte(body), nil)
	if err != nil {
		b.T.Fatal(err)
	}
	return stage.Encode(&weftpb.Fetched{
		Id: title, Request: &weftpb.Request{Target: &weftpb.Target{Url: url}},
		Outcome: &weftpb.Outcome{Status: 200, BodyBytes: ref.Size},
		Headers: []*weftpb.Header{{Name: "Content-Type", Value: "text/html"}},
		Stored:  ref,
	}), ref.Key
}

// Until waits for a condition.
func (b Workbench) Until(holds func() bool, otherwise string) {
	b.T.Helper()
	for deadline := time.Now().Add(Bound); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.T.Fatal(otherwise)
		}
	}
}

// Paused returns the control that pauses these stages.
func Paused(stages ...topics.Stage) topics.Control { return topics.Control{Paused: stages} }
