package processors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/bodies"
	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/lanes"
	"github.com/weftcrawl/weft/lease"
	"github.com/weftcrawl/weft/store"
	"github.com/weftcrawl/weft/topics"
)

// flaky is a bucket that fails while it is down, and counts what it is asked for
// then.
type flaky struct {
	store.Bucket
	down  atomic.Bool
	asked atomic.Int64
}

func (f *flaky) trouble() error {
	if f.down.Load() {
		f.asked.Add(1)
		return errors.New("the bucket is down")
	}
	return nil
}

func (f *flaky) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.Put(ctx, key, body, size)
}

func (f *flaky) Get(ctx context.Context, key string, w io.Writer) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.Get(ctx, key, w)
}

func (f *flaky) Delete(ctx context.Context, key string) error {
	if err := f.trouble(); err != nil {
		return err
	}
	return f.Bucket.Delete(ctx, key)
}

// withBodies gives the environment a store in a folder.
func (b *workbench) withBodies() (dir string, bucket *flaky) {
	b.t.Helper()
	dir = b.t.TempDir()
	inner, err := store.Open(b.t.Context(), dir)
	if err != nil {
		b.t.Fatal(err)
	}
	bucket = &flaky{Bucket: inner}
	b.Bodies = bodies.New(bucket, kadm.TopicID{1}, b.Logger)
	return dir, bucket
}

// page puts a page of a title into the store, and returns the record of its
// exchange.
func (b workbench) page(title string) (value []byte, key string) {
	b.t.Helper()
	url := "http://k.example/" + title
	body := "<title>" + title + "</title>" + strings.Repeat("<p>text</p>", 1000)
	ref, err := b.Bodies.Put(b.t.Context(), 0, title, []byte(body))
	if err != nil {
		b.t.Fatal(err)
	}
	return encode(&weftpb.Fetched{
		Id: title, Request: &weftpb.Request{Target: &weftpb.Target{Url: url}},
		Outcome: &weftpb.Outcome{Status: 200, BodyBytes: ref.Size},
		Headers: []*weftpb.Header{{Name: "Content-Type", Value: "text/html"}},
		Stored:  ref,
	}), ref.Key
}

func TestParseClaimsBodies(t *testing.T) {
	b := newWorkbench(t)
	dir, _ := b.withBodies()
	whole, _ := b.page("whole")
	missing, key := b.page("missing")
	if err := b.Bodies.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	damaged, key := b.page("damaged")
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(key)), []byte("<title>another"), 0o600); err != nil {
		t.Fatal(err)
	}
	last, _ := b.page("last")
	b.write(b.Names.Fetched, string(whole), string(missing), string(damaged), string(last))
	end := during(t, func(ctx context.Context) error { return Parse(ctx, b.Env) })
	pages := strings.Join(b.read(b.Names.Parsed, 2), "\n")
	for _, title := range []string{"whole", "last"} {
		if !strings.Contains(pages, fmt.Sprintf(`"title":%q`, title)) {
			t.Errorf("no page %q in %.200s", title, pages)
		}
	}
	aside := map[string]string{}
	for _, value := range b.read(b.Names.Rejected, 2) {
		r, err := codecs.DecodeRejected([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		aside[r.Reason] = string(r.Value)
	}
	if aside[reasonBodyMissing] != string(missing) || aside[reasonBodyDamaged] != string(damaged) {
		t.Errorf("set aside: %q", aside)
	}
	if b.meter.rejected["parse body_missing"] != 1 || b.meter.rejected["parse body_damaged"] != 1 {
		t.Errorf("counted: %v", b.meter.rejected)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// While the store is down parse waits, and says so; it ends when it is told to,
// and reads the record again in its next life.
func TestParseWaitsForTheStore(t *testing.T) {
	b := newWorkbench(t)
	_, bucket := b.withBodies()
	page, _ := b.page("late")
	b.write(b.Names.Fetched, string(page))
	bucket.down.Store(true)
	parse := func(ctx context.Context) error { return Parse(ctx, b.Env) }
	end := during(t, parse)
	b.until(b.Bodies.Waiting, "nobody waits for the store")
	began := time.Now()
	if err := end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > drainTimeout {
		t.Errorf("the end took %v", took)
	}
	end = during(t, parse)
	b.until(func() bool { return bucket.asked.Load() > 1 && b.Bodies.Waiting() }, "nobody waits for the store again")
	bucket.down.Store(false)
	if got := b.read(b.Names.Parsed, 1); !strings.Contains(got[0], `"title":"late"`) {
		t.Errorf("parsed: %.200s", got[0])
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if log := b.log.String(); !strings.Contains(log, "the store of large bodies does not work") {
		t.Errorf("nothing about it in the log:\n%s", log)
	}
}

// until waits for a condition.
func (b workbench) until(holds func() bool, otherwise string) {
	b.t.Helper()
	for deadline := time.Now().Add(bound); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatal(otherwise)
		}
	}
}

// A process that began before the crawl had a store must not take what it cannot
// read for lost.
func TestParseWithoutStoreEnds(t *testing.T) {
	b := newWorkbench(t)
	b.withBodies()
	page, _ := b.page("large")
	b.write(b.Names.Fetched, string(page))
	b.Bodies = nil
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	if err := Parse(ctx, b.Env); !errors.Is(err, errNoBodies) {
		t.Errorf("parse ended with %v", err)
	}
}

func TestArchiveClaimsBodies(t *testing.T) {
	b := newWorkbench(t)
	b.withBodies()
	var records [3]*kgo.Record
	for i, title := range []string{"a", "b", "c"} {
		value, key := b.page(title)
		records[i] = &kgo.Record{Topic: b.Names.Fetched, Offset: int64(i), Value: value}
		if title == "b" {
			if err := b.Bodies.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	aside, err := b.aside(topics.WARC)
	if err != nil {
		t.Fatal(err)
	}
	defer aside.client.Close()
	files := new(clumsy)
	for _, r := range records {
		if err := archiveRecord(t.Context(), r, files, aside); err != nil {
			t.Fatal(err)
		}
	}
	if len(files.written) != 2 || !strings.Contains(files.written[0], "<title>a") || !strings.Contains(files.written[1], "<title>c") {
		t.Errorf("archived: %.100q", files.written)
	}
	if b.meter.rejected["warc body_missing"] != 1 {
		t.Errorf("counted: %v", b.meter.rejected)
	}
}

// server answers with a body.
type server struct {
	exchanger
	body   []byte
	before func()
}

func (s server) Do(_ context.Context, r fetch.Request) *fetch.Exchange {
	if s.before != nil {
		s.before()
	}
	return &fetch.Exchange{URL: r.URL, Status: 200, Body: s.body}
}

func TestFetchStoresLargeBodies(t *testing.T) {
	b := newWorkbench(t)
	_, bucket := b.withBodies()
	b.Definition.BodyThreshold = 1000
	v := &lanes.Visit{Visit: &weftpb.Visit{Id: "v", Requests: []*weftpb.Request{{Target: &weftpb.Target{Url: "http://k.example/p"}}}}, Domain: "k.example"}
	asking := func(s server) *requests {
		right := lease.New(time.Hour, lease.BootTime)
		right.Extend(0)
		return &requests{fetcher: &fetcher{env: b.Env, http: s, lease: right}}
	}
	for n, stored := range map[int]bool{0: false, 1000: false, 1001: true} {
		q := asking(server{body: bytes.Repeat([]byte("x"), n)})
		x := q.exchange(t.Context(), v, 0)
		_, outcome, out := q.recordOf(v, 0, x)
		var f weftpb.Fetched
		if err := proto.Unmarshal(out.Value, &f); err != nil {
			t.Fatal(err)
		}
		if (f.Stored != nil) != stored || (len(f.Body) == n) == (stored) || outcome.BodyBytes != int64(n) {
			t.Errorf("%d bytes: %d in the record, stored as %v, said to be %d", n, len(f.Body), f.Stored, outcome.BodyBytes)
		}
		whole, err := b.Bodies.Claim(t.Context(), out.Value)
		if err != nil {
			t.Fatal(err)
		}
		if proto.Unmarshal(whole, &f) != nil || len(f.Body) != n {
			t.Errorf("%d bytes are claimed as %d", n, len(f.Body))
		}
	}

	large := server{body: make([]byte, 5000)}
	q := asking(large)
	q.http = server{body: large.body, before: q.lease.Revoke}
	if x := q.exchange(t.Context(), v, 0); !Undone(x) || x.Body != nil {
		t.Errorf("without a lease: %+v", x)
	}

	bucket.down.Store(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan *fetch.Exchange)
	go func() { done <- asking(large).exchange(ctx, v, 0) }()
	b.until(b.Bodies.Waiting, "nobody waits for the store")
	cancel(fetch.ErrLeaseLost)
	if x := <-done; !Undone(x) || x.Body != nil {
		t.Errorf("who gave up waiting: %+v", x)
	}
}
