package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/test/s3server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// places are the buckets that must pass, all of them empty.
var places = map[string]func(t *testing.T) string{
	"folder":     func(t *testing.T) string { return t.TempDir() },
	"new folder": func(t *testing.T) string { return "file://" + t.TempDir() + "/not/there/yet" },
	"s3":         func(t *testing.T) string { return s3server.Fake(t, "crawls") },
	"s3 with a prefix": func(t *testing.T) string {
		return strings.Replace(s3server.Fake(t, "crawls"), "?", "/a/prefix?region=eu-west-1&", 1)
	},
	"versitygw": func(t *testing.T) string {
		return strings.Replace(s3server.Gateway(t, "crawls"), "?", "/a/prefix?", 1)
	},
}

func TestConformance(t *testing.T) {
	tests := map[string]func(t *testing.T, b blob.Bucket){
		"probe":                conformProbe,
		"new":                  conformNew,
		"range":                conformRange,
		"reader":               conformReader,
		"slow reader":          conformSlowReader,
		"round trip":           conformRoundTrip,
		"replace":              conformReplace,
		"absent":               conformAbsent,
		"keys":                 conformKeys,
		"list":                 conformList,
		"long list":            conformLongList,
		"body of another size": conformSizes,
		"never half an object": conformAtomic,
		"cancelled":            conformCancelled,
		"sweep":                conformSweep,
	}
	for place, locate := range places {
		for name, test := range tests {
			t.Run(place+"/"+name, func(t *testing.T) {
				b, err := blob.Open(t.Context(), locate(t))
				if err != nil {
					t.Fatal(err)
				}
				test(t, b)
			})
		}
	}
}

func put(t *testing.T, b blob.Bucket, key, body string) {
	t.Helper()
	if err := b.Put(t.Context(), key, strings.NewReader(body), int64(len(body))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, b blob.Bucket, key string) string {
	t.Helper()
	var body bytes.Buffer
	if err := b.Get(t.Context(), key, &body); err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// list returns "key=size" of the objects under prefix, sorted.
func list(t *testing.T, b blob.Bucket, prefix string) (all []string) {
	t.Helper()
	for o, err := range b.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s=%d", o.Key, o.Size))
	}
	slices.Sort(all)
	return all
}

func conformProbe(t *testing.T, b blob.Bucket) {
	if err := errors.Join(blob.Probe(t.Context(), b), blob.ProbeNew(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	if left := list(t, b, ""); len(left) != 0 {
		t.Errorf("the probe left %q", left)
	}
}

func conformRoundTrip(t *testing.T, b blob.Bucket) {
	large := make([]byte, 20<<20+17) // several parts
	random := rand.NewChaCha8([32]byte{1})
	if _, err := random.Read(large); err != nil {
		t.Fatal(err)
	}
	for key, body := range map[string]string{
		"empty": "", "small": "x", "deep/er/and/deeper": "y", "sp ace+plus%20&ü": "odd", "large": string(large),
	} {
		put(t, b, key, body)
		if got := get(t, b, key); got != body {
			t.Errorf("%s: got %d bytes, put %d, or others", key, len(got), len(body))
		}
	}
}

// A reader may be closed before the end of its object, and then nothing is left of it (goleak).
func conformReader(t *testing.T, b blob.Bucket) {
	body := strings.Repeat("0123456789", 1<<20)
	put(t, b, "k", body)
	for _, length := range []int{len(body), 10, 0} {
		r := blob.Reader(t.Context(), b, "k")
		if got, err := io.ReadAll(io.LimitReader(r, int64(length))); err != nil || string(got) != body[:length] {
			t.Errorf("got %d of %d bytes: %v", len(got), length, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	r := blob.Reader(t.Context(), b, "none")
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("an object that is not there: %v", err)
	}
	_ = r.Close()
}

// A slow reader reads the same bytes, also at the ends of its ranges. It never mixes two objects.
func conformSlowReader(t *testing.T, b blob.Bucket) {
	const part = 512 << 10
	for _, size := range []int{0, 1, part - 1, part, part + 1, 2*part - 1, 2 * part, 3*part + 17} {
		body := strings.Repeat("0123456", size/7+1)[:size]
		put(t, b, "k", body)
		r := blob.SlowReader(t.Context(), b, "k")
		if got, err := io.ReadAll(r); err != nil || string(got) != body {
			t.Errorf("got %d of %d bytes, or others: %v", len(got), size, err)
		}
		_ = r.Close()
	}
	r := blob.SlowReader(t.Context(), b, "none")
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("an object that is not there: %v", err)
	}
	_ = r.Close()
	old := strings.Repeat("old", part)
	for name, other := range map[string]string{"as large": strings.Repeat("new", part), "smaller": "new", "empty": ""} {
		put(t, b, "k", old)
		r := blob.SlowReader(t.Context(), b, "k")
		begin := make([]byte, 10)
		_, err := io.ReadFull(r, begin)
		put(t, b, "k", other)
		rest, failed := io.ReadAll(r)
		whole := failed == nil && string(begin)+string(rest) == old
		if err != nil || !whole && !errors.Is(failed, blob.ErrReplaced) {
			t.Errorf("replaced by one that is %s: %d bytes, %v, %v", name, len(rest), err, failed)
		}
		_ = r.Close()
	}
}

// Many slow readers may be open at a time. A Reader would have 24 MiB and more of its object in memory.
func TestSlowReadersTakeLittleMemory(t *testing.T) {
	b, err := blob.Open(t.Context(), s3server.Gateway(t, "crawls"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, b, "k", strings.Repeat("x", 24<<20))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const readers = 16
	before := heap()
	for range readers {
		r := blob.SlowReader(t.Context(), b, "k")
		defer r.Close()
		if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if took := heap() - before; took > readers<<20 {
		t.Errorf("%d readers take %d bytes", readers, took)
	}
}

func conformReplace(t *testing.T, b blob.Bucket) {
	put(t, b, "k", "the first one")
	put(t, b, "k", "second")
	if got := get(t, b, "k"); got != "second" {
		t.Errorf("got %q", got)
	}
	if got, want := list(t, b, ""), []string{"k=6"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func conformAbsent(t *testing.T, b blob.Bucket) {
	put(t, b, "a", "x")
	put(t, b, "b", "x")
	for _, key := range []string{"nothing", "no/where", "a/below"} {
		if err := b.Get(t.Context(), key, io.Discard); !errors.Is(err, blob.ErrNotExist) {
			t.Errorf("get %s: %v", key, err)
		}
		if err := b.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %s: %v", key, err)
		}
	}
	if err := b.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if err := b.Get(t.Context(), "a", io.Discard); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("get of a deleted object: %v", err)
	}
	if got, want := list(t, b, ""), []string{"b=1"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func conformKeys(t *testing.T, b blob.Bucket) {
	for _, key := range []string{"", "/", "/a", "a/", "a//b", "../a", "a/../b", "./a", ".hidden", "a/.hidden", "a\x00", "\xff", strings.Repeat("a/", 600) + "a"} {
		for what, err := range map[string]error{
			"put":    b.Put(t.Context(), key, strings.NewReader("x"), 1),
			"get":    b.Get(t.Context(), key, io.Discard),
			"delete": b.Delete(t.Context(), key),
		} {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("%s %q: %v", what, key, err)
			}
		}
	}
}

func conformList(t *testing.T, b blob.Bucket) {
	for _, key := range []string{"a/1", "a/2", "a/b/3", "ab/4", "c"} {
		put(t, b, key, key)
	}
	for prefix, want := range map[string][]string{
		"":     {"a/1=3", "a/2=3", "a/b/3=5", "ab/4=4", "c=1"},
		"a":    {"a/1=3", "a/2=3", "a/b/3=5", "ab/4=4"},
		"a/":   {"a/1=3", "a/2=3", "a/b/3=5"},
		"a/b/": {"a/b/3=5"},
		"a/1":  {"a/1=3"},
		"d/e":  nil,
		"c/":   nil,
		"../":  nil,
		"//":   nil,
	} {
		if got := list(t, b, prefix); !slices.Equal(got, want) {
			t.Errorf("prefix %q: %q, want %q", prefix, got, want)
		}
	}
	for range b.List(t.Context(), "") {
		break // a listing may be left early
	}
}

func conformLongList(t *testing.T, b blob.Bucket) {
	const n = 1005 // more than a page
	for i := range n {
		put(t, b, fmt.Sprintf("many/%04d", i), "")
	}
	if got := list(t, b, "many/"); len(got) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d objects listed", len(got))
	}
}

func conformSizes(t *testing.T, b blob.Bucket) {
	for name, size := range map[string]int64{"short": 4, "long": 2} {
		if err := b.Put(t.Context(), name, strings.NewReader("xyz"), size); err == nil {
			t.Errorf("a body of 3 bytes was put as %d", size)
		}
	}
	if err := b.Put(t.Context(), "broken", io.MultiReader(strings.NewReader("xy"), broken{}), 3); !errors.Is(err, errBroken) {
		t.Errorf("a body that fails: %v", err)
	}
	if got := list(t, b, ""); len(got) != 0 {
		t.Errorf("failed puts left %q", got)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// gate is a body that waits in its middle.
type gate struct {
	rest       []byte
	half, open chan struct{}
	once       sync.Once
}

func (g *gate) Read(p []byte) (int, error) {
	if len(g.rest) == 1 {
		g.once.Do(func() { close(g.half); <-g.open })
	}
	n := copy(p, g.rest[:min(len(g.rest), max(1, len(g.rest)-1))])
	g.rest = g.rest[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func conformAtomic(t *testing.T, b blob.Bucket) {
	body := strings.Repeat("new", 6<<20) // several parts
	begin := func() (g *gate, done chan error) {
		g, done = &gate{rest: []byte(body), half: make(chan struct{}), open: make(chan struct{})}, make(chan error, 1)
		go func() { done <- b.Put(context.WithoutCancel(t.Context()), "k", g, int64(len(body))) }()
		<-g.half
		return g, done
	}
	g, done := begin()
	if err := b.Get(t.Context(), "k", io.Discard); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("half an object is there: %v", err)
	}
	if got := list(t, b, ""); len(got) != 0 {
		t.Errorf("half an object is listed: %q", got)
	}
	close(g.open)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	put(t, b, "k", "old")
	g, done = begin()
	if got := get(t, b, "k"); got != "old" {
		t.Errorf("while it is replaced the object has %d bytes", len(got))
	}
	close(g.open)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := get(t, b, "k"); got != body {
		t.Errorf("got %d bytes", len(got))
	}
}

// A Put whose process dies leaves something, which only Sweep finds; here the upload does not go
// on, and its client does not clean up.
func conformSweep(t *testing.T, b blob.Bucket) {
	put(t, b, "a/whole", "x")
	body := strings.Repeat("new", 6<<20) // several parts
	g, done := &gate{rest: []byte(body), half: make(chan struct{}), open: make(chan struct{})}, make(chan error, 1)
	go func() { done <- b.Put(context.WithoutCancel(t.Context()), "a/half", g, int64(len(body))) }()
	<-g.half
	began := time.Now()
	for _, sweep := range []struct {
		prefix string
		then   time.Time
	}{{"a/", began.Add(-time.Hour)}, {"b/", began.Add(time.Hour)}} {
		if err := b.Sweep(t.Context(), sweep.prefix, sweep.then); err != nil {
			t.Fatal(err)
		}
	}
	// A part that was on its way when its upload was aborted may bring that back,
	// says S3; a dead writer has none on the way.
	for range 25 {
		if err := b.Sweep(t.Context(), "a/", began.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	close(g.open)
	if err := <-done; err == nil {
		t.Error("what was swept was put")
	}
	if got, want := list(t, b, ""), []string{"a/whole=1"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
}

func conformCancelled(t *testing.T, b blob.Bucket) {
	put(t, b, "k", "v")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var listing error
	for _, err := range b.List(ctx, "") {
		listing = err
	}
	for what, err := range map[string]error{
		"put": b.Put(ctx, "l", strings.NewReader("x"), 1), "get": b.Get(ctx, "k", io.Discard), "list": listing,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An object that is put as new is never replaced, and of several writers one wins.
func conformNew(t *testing.T, b blob.Bucket) {
	var wins, losses atomic.Int32
	var all sync.WaitGroup
	texts := []string{"one", "two", "three", "four"}
	for _, text := range texts {
		all.Go(func() {
			switch err := b.PutNew(t.Context(), "a/new", strings.NewReader(text), int64(len(text))); {
			case err == nil:
				wins.Add(1)
			case errors.Is(err, blob.ErrExists):
				losses.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if wins.Load() != 1 || losses.Load() != 3 {
		t.Fatalf("%d writers won, %d lost", wins.Load(), losses.Load())
	}
	var was, is bytes.Buffer
	err := b.Get(t.Context(), "a/new", &was)
	// One that is sent in parts.
	large := bytes.Repeat([]byte("later"), 4<<20)
	lost := b.PutNew(t.Context(), "a/new", bytes.NewReader(large), int64(len(large)))
	err = errors.Join(err, b.Get(t.Context(), "a/new", &is))
	if err != nil || !errors.Is(lost, blob.ErrExists) || !bytes.Equal(was.Bytes(), is.Bytes()) || !slices.Contains(texts, was.String()) {
		t.Errorf("put again: %v; read: %v; was %.20q, is %.20q", lost, err, was.Bytes(), is.Bytes())
	}
	if err := errors.Join(b.Delete(t.Context(), "a/new"), b.PutNew(t.Context(), "a/new", strings.NewReader("x"), 1)); err != nil {
		t.Errorf("new again: %v", err)
	}
}

func conformRange(t *testing.T, b blob.Bucket) {
	if err := b.Put(t.Context(), "a", strings.NewReader("0123456789"), 10); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, 10, "0123456789"}, {3, 4, "3456"}, {8, 9, "89"}, {10, 1, ""}, {0, 1, "0"}} {
		var got bytes.Buffer
		if err := b.GetRange(t.Context(), "a", c.offset, c.length, &got); err != nil || got.String() != c.want {
			t.Errorf("%d from %d on: %q, %v", c.length, c.offset, got.String(), err)
		}
	}
	if err := b.GetRange(t.Context(), "b", 0, 1, io.Discard); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("of no object: %v", err)
	}
}
