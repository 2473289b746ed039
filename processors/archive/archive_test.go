package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/s3server"
	"github.com/weftcrawl/weft/test/stagetest"
	"github.com/weftcrawl/weft/topics"
)

// exchange is record n of fetched, with a body of its own.
func exchange(n int) *weftpb.Fetched {
	body := fmt.Sprintf("<p>page %d %s", n, strings.Repeat(fmt.Sprintf("%x ", n*n*7919), 200))
	return &weftpb.Fetched{
		Id:      fmt.Sprintf("page-%d", n),
		Request: &weftpb.Request{Target: &weftpb.Target{Url: fmt.Sprintf("http://k.example/%d", n)}},
		Outcome: &weftpb.Outcome{Status: 200, StartedMs: 1_790_000_000_000 + int64(n), BodyBytes: int64(len(body))},
		Proto:   "HTTP/1.1", Body: []byte(body),
	}
}

// bench has a crawl with an archive in a bucket.
type bench struct {
	stagetest.Workbench
	bucket blob.Bucket
}

func newBench(t *testing.T, location string) bench {
	t.Helper()
	bucket, err := blob.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	b := bench{stagetest.NewWorkbench(t), bucket}
	b.Definition.Partitions = 1
	return b
}

func (b bench) fill(from, to int) {
	for n := from; n < to; n++ {
		b.Write(b.Names.Fetched, string(stage.Encode(exchange(n))))
	}
}

// options are for small files: two or three exchanges each.
func (b bench) options(bucket blob.Bucket) Options {
	return Options{Bucket: bucket, Topic: kadm.TopicID{1}, FileBytes: 1500, Info: []warc.Field{{Name: "software", Value: "Weft"}}}
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// finish runs the stage until everything before end is committed.
func (b bench) finish(o Options, end int64) { b.finishBoth(o, end, 0) }

// finishBoth runs the stage until everything before end in fetched and before parsed in parsed is
// committed.
func (b bench) finishBoth(o Options, end, parsed int64) {
	b.T.Helper()
	o.Settle = closed()
	stop := stagetest.During(b.T, func(ctx context.Context) error { return Run(ctx, b.Env, o) })
	for began := time.Now(); b.committed() < end || b.committedIn(b.Names.Parsed) < parsed; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > stagetest.Bound {
			b.T.Fatalf("committed %d of %d; %s", b.committed(), end, b.Log)
		}
	}
	if err := stop(); err != nil {
		b.T.Fatal(err)
	}
}

func (b bench) committed() int64 { return b.committedIn(b.Names.Fetched) }

func (b bench) committedIn(topic string) int64 {
	b.T.Helper()
	commits, err := b.Admin.FetchOffsets(b.T.Context(), b.Names.Group(topics.Archive))
	if err != nil && !strings.Contains(err.Error(), "GROUP_ID_NOT_FOUND") {
		b.T.Fatal(err)
	}
	at, _ := commits.Lookup(topic, 0)
	return at.At
}

// objects are the objects of the bucket.
func (b bench) objects() map[string]string {
	b.T.Helper()
	all := map[string]string{}
	for object, err := range b.bucket.List(b.T.Context(), "") {
		var text bytes.Buffer
		if err = errors.Join(err, b.bucket.Get(b.T.Context(), object.Key, &text)); err != nil {
			b.T.Fatal(err)
		}
		all[object.Key] = text.String()
	}
	return all
}

// whole checks that the files are a chain with each of the first n exchanges once, and
// that each index belongs to a file and leads to its records.
func (b bench) whole(n int) {
	b.T.Helper()
	objects := b.objects()
	var next int64
	var urls []string
	files := 0
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if strings.HasSuffix(name, IndexExtension) {
			continue
		}
		files++
		text := objects[name]
		head, ok := warc.ReadHead([]byte(text[:min(len(text), warc.HeadBytes)]))
		if !ok || head.Name != name || head.First != next {
			b.T.Errorf("%s has the head %+v, and begins at %d", name, head, next)
		}
		next = head.Next
		index, ok := objects[IndexName(head)]
		if !ok {
			b.T.Errorf("%s has no index", name)
		}
		for line := range strings.Lines(index) {
			url := "http://k.example/" + strings.TrimPrefix(strings.Fields(line)[0], "example,k)/")
			at := warc.Lines([]byte(line), warc.SURT(url))
			gz, err := gzip.NewReader(strings.NewReader(text[at[0].Offset:][:at[0].Length]))
			if err != nil {
				b.T.Fatal(err)
			}
			record, err := io.ReadAll(gz)
			if err != nil || !bytes.Contains(record, []byte("Target-URI: "+url+"\r\n")) {
				b.T.Errorf("%s: %v", line, err)
			}
			urls = append(urls, url)
		}
	}
	if 2*files != len(objects) {
		b.T.Errorf("%d files, and the objects %q", files, slices.Sorted(maps.Keys(objects)))
	}
	var want []string
	for i := range n {
		want = append(want, exchange(i).Request.Target.Url)
	}
	slices.Sort(want)
	slices.Sort(urls)
	if diff := cmp.Diff(want, urls); diff != "" || int(next) != n {
		b.T.Errorf("to offset %d; exchanges (-want +got):\n%s", next, diff)
	}
}

// Everything is in a chain of files, in each kind of bucket, whatever runs are cut.
func TestArchive(t *testing.T) {
	for place, location := range map[string]func() string{
		"folder": func() string { return t.TempDir() },
		"s3":     func() string { return s3server.Gateway(t, "archive") },
	} {
		t.Run(place, func(t *testing.T) {
			b := newBench(t, location())
			o := b.options(b.bucket)
			b.fill(0, 7)
			b.finish(o, 7)
			b.whole(7)
			b.fill(7, 9)
			b.finish(o, 9)
			b.whole(9)
			o.Topic = kadm.TopicID{2} // created again: the same offsets, other files
			before := len(b.objects())
			b.reset()
			b.finish(o, 9)
			if after := len(b.objects()); after < before+2 {
				t.Errorf("%d objects, and %d before", after, before)
			}
		})
	}
}

// reset has the group begin anew.
func (b bench) reset() {
	b.T.Helper()
	if _, err := b.Admin.DeleteGroups(b.T.Context(), b.Names.Group(topics.Archive)); err != nil {
		b.T.Fatal(err)
	}
}

// mortal is a bucket whose process dies at one operation: before or after its effect.
type mortal struct {
	blob.Bucket
	kill func()

	mu     sync.Mutex
	left   int
	after  bool
	killed string
}

var errKilled = errors.New("killed")

func (m *mortal) step(name string, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	switch {
	case m.killed != "":
		return errKilled
	case m.left > 0:
		return do()
	}
	m.killed = name
	defer m.kill()
	if m.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errKilled
}

func (m *mortal) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	return m.step("Put", func() error { return m.Bucket.Put(ctx, key, body, size) })
}

func (m *mortal) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	return m.step("PutNew", func() error { return m.Bucket.PutNew(ctx, key, body, size) })
}

func (m *mortal) GetRange(ctx context.Context, key string, offset, length int64, w io.Writer) error {
	return m.step("GetRange", func() error { return m.Bucket.GetRange(ctx, key, offset, length, w) })
}

// A process that is killed at any operation on the bucket, before or after its effect, loses
// nothing and leaves nothing twice: the files equal the files of a run without a kill, byte for
// byte.
func TestKilledAtEachStep(t *testing.T) {
	b := newBench(t, t.TempDir())
	b.fill(0, 4)
	b.finish(b.options(b.bucket), 4)
	b.whole(4)
	want := b.objects()
	steps := map[string]bool{}
	for kill := 1; kill <= 5; kill++ { // the first file, and what begins the second one
		for _, after := range []bool{false, true} {
			b.reset()
			dir := t.TempDir()
			bucket, err := blob.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			b.bucket = bucket
			died, cancel := context.WithCancel(t.Context())
			m := &mortal{Bucket: bucket, kill: cancel, left: kill, after: after}
			b.dies(died, m)
			cancel()
			if m.killed == "" {
				t.Fatalf("it was not killed at operation %d", kill)
			}
			steps[fmt.Sprint(m.killed, after)] = true
			b.finish(b.options(bucket), 4)
			b.whole(4)
			if diff := cmp.Diff(want, b.objects()); diff != "" {
				t.Fatalf("killed at operation %d, %s, after %v: files (-want +got):\n%s", kill, m.killed, after, diff)
			}
		}
	}
	if len(steps) != 6 {
		t.Errorf("it died at %v", steps)
	}
}

// dies runs the stage until its process is killed or has archived everything: nothing is
// published or committed at its end.
func (b bench) dies(died context.Context, bucket blob.Bucket) {
	b.T.Helper()
	b.diesAt(died, b.options(bucket), func() bool { return b.committed() >= 4 })
}

func (b bench) diesAt(died context.Context, o Options, done func() bool) {
	b.T.Helper()
	a, err := open(b.Env, o.withDefaults())
	if err != nil {
		b.T.Fatal(err)
	}
	life, end := context.WithCancel(b.T.Context())
	defer a.leave()
	defer a.close()
	defer end()
	for died.Err() == nil && !done() {
		if err := a.round(died, life, 5*time.Millisecond, true); err != nil && died.Err() == nil {
			b.T.Fatal(err)
		}
	}
}

// The chore runs while the process owns the first partition of fetched.
func TestChore(t *testing.T) {
	b := newBench(t, t.TempDir())
	begun, ended := make(chan struct{}, 2), make(chan struct{}, 2)
	o := b.options(b.bucket)
	o.Chore = func(ctx context.Context) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
	}
	a, err := open(b.Env, o.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	for len(begun) == 0 {
		if err := a.round(t.Context(), t.Context(), 5*time.Millisecond, false); err != nil {
			t.Fatal(err)
		}
	}
	a.onLost(t.Context(), nil, map[string][]int32{b.Names.Fetched: {1}, b.Names.Parsed: {0}})
	a.onAssigned(t.Context(), nil, map[string][]int32{b.Names.Parsed: {0}, b.Names.Fetched: {1}})
	if len(ended) > 0 || len(begun) > 1 {
		t.Error("another partition ends it or begins it")
	}
	a.onLost(t.Context(), nil, map[string][]int32{b.Names.Fetched: {0}})
	a.onAssigned(t.Context(), nil, map[string][]int32{b.Names.Fetched: {0}})
	<-ended // before it begins again
	for len(begun) < 2 {
		runtime.Gosched()
	}
	a.leave()
	if len(begun) != 2 || len(ended) != 1 {
		t.Errorf("it began %d times and ended %d times", len(begun), 1+len(ended))
	}
}

// Two processes that both believe to own the partition write each exchange once.
func TestTwoOwners(t *testing.T) {
	t.Run("folder", func(t *testing.T) { twoOwners(t, t.TempDir()) })
	t.Run("slow s3", func(t *testing.T) {
		var server faultyServer
		server.fault.Store(&fault{wait: 5 * time.Millisecond})
		twoOwners(t, server.inFrontOf(t, s3server.Gateway(t, "archive")))
	})
}

func twoOwners(t *testing.T, location string) {
	b := newBench(t, location)
	b.fill(0, 40)
	life, end := context.WithCancel(t.Context())
	defer end()
	var owners []*archiver
	for i := range 2 {
		o := b.options(b.bucket)
		o.FileBytes = int64(1000 + 1700*i)
		env := b.Env
		if i > 0 {
			env.Names.Crawl = "other" // another group, and below the same files
		}
		a, err := open(env, o)
		if err != nil {
			t.Fatal(err)
		}
		defer a.leave()
		defer a.close()
		defer end()
		a.files.env.Names.Crawl = b.Names.Crawl
		owners = append(owners, a)
	}
	for began := time.Now(); ; {
		both := true
		for _, a := range owners {
			if err := a.round(t.Context(), life, 5*time.Millisecond, true); err != nil {
				t.Fatal(err)
			}
			p := a.parts[source{b.Names.Fetched, 0}]
			both = both && p != nil && p.next == 40 && p.job == nil && p.draft == nil
		}
		if both {
			break
		}
		if time.Since(began) > stagetest.Bound {
			t.Fatal("they do not come to an end")
		}
	}
	b.whole(40)
}

// While the bucket does not work, nothing is committed, the partition is not read on, and
// the users are told; then everything is there once.
func TestBucketIsDown(t *testing.T) {
	b := newBench(t, t.TempDir())
	b.fill(0, 3)
	flaky := &stagetest.Flaky{Bucket: b.bucket}
	flaky.Down.Store(true)
	o := b.options(flaky)
	o.Settle = closed()
	stop := stagetest.During(t, func(ctx context.Context) error { return Run(ctx, b.Env, o) })
	for began := time.Now(); flaky.Asked.Load() < 2; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > stagetest.Bound {
			t.Fatal("the bucket is not asked again")
		}
	}
	if at := b.committed(); at > 0 || len(b.objects()) > 0 {
		t.Errorf("%d committed, objects %v", at, b.objects())
	}
	if !strings.Contains(b.Log.String(), "the archive cannot be written") {
		t.Errorf("the log says:\n%s", b.Log)
	}
	flaky.Down.Store(false)
	b.fill(3, 6)
	for began := time.Now(); b.committed() < 6; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > stagetest.Bound {
			t.Fatalf("committed %d; %s", b.committed(), b.Log)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	b.whole(6)
}

// A file whose name has another first record, because the broker lost the end of its log,
// stays, and the new records are kept beside it.
func TestOffsetsThatWereLost(t *testing.T) {
	b := newBench(t, t.TempDir())
	b.fill(0, 2)
	b.finish(b.options(b.bucket), 2)
	old := b.objects()
	c := newBench(t, t.TempDir())
	c.bucket = b.bucket
	c.fill(2, 5)
	c.finish(c.options(c.bucket), 3)
	all := c.objects()
	for name, text := range old {
		if all[name] != text {
			t.Errorf("%s changed", name)
		}
	}
	fresh := Prefix("test", kadm.TopicID{1}, 0) + "000000000000000-1.warc.gz"
	if _, ok := all[fresh]; !ok || len(all) < len(old)+2 {
		t.Errorf("%s is not among %q", fresh, slices.Sorted(maps.Keys(all)))
	}
}

// refusing is a bucket that refuses a name as if it had an object, and has none.
type refusing struct {
	blob.Bucket
	name string
}

func (r refusing) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	if key == r.name {
		return blob.ErrExists
	}
	return r.Bucket.PutNew(ctx, key, body, size)
}

// A file is cut at a number of responses, too.
func TestFilesHaveFewResponses(t *testing.T) {
	b := newBench(t, t.TempDir())
	b.fill(0, 10)
	o := b.options(b.bucket)
	o.FileBytes, o.FileResponses = 1<<20, 4
	b.finish(o, 10)
	b.whole(10)
	var responses []int
	for name, text := range b.objects() {
		if strings.HasSuffix(name, IndexExtension) {
			responses = append(responses, strings.Count(text, "\n"))
		}
	}
	if slices.Sort(responses); !slices.Equal(responses, []int{2, 4, 4}) {
		t.Errorf("files with %d responses", responses)
	}
}

// A file whose name the bucket refuses gets the next name, under which it is found again.
func TestNameIsRefused(t *testing.T) {
	b := newBench(t, t.TempDir())
	b.fill(0, 5)
	prefix := Prefix("test", kadm.TopicID{1}, 0) + "000000000000000"
	bucket := refusing{b.bucket, prefix + ".warc.gz"}
	b.finish(b.options(bucket), 5)
	all := b.objects()
	if all[prefix+"-1.warc.gz"] == "" || all[prefix+".warc.gz"] != "" {
		t.Errorf("the files are %q", slices.Sorted(maps.Keys(all)))
	}
	b.whole(5)
	// The next owner reads the records again if the commit was lost.
	b.Names.Crawl = "other"
	a, err := open(b.Env, b.options(bucket).withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer a.leave()
	a.files.env.Names.Crawl = "test"
	r := &kgo.Record{Topic: b.Names.Fetched, Value: stage.Encode(exchange(0))}
	if head, found, err := a.files.find(t.Context(), source{r.Topic, 0}, r); err != nil || !found || head.Name != prefix+"-1.warc.gz" {
		t.Errorf("%s, %v, %v", head.Name, found, err)
	}
}

func TestNextName(t *testing.T) {
	for name, want := range map[string]string{
		"a-b-00001-000000000000123.warc.gz":         "a-b-00001-000000000000123-1.warc.gz",
		"a-b-00001-000000000000123-9.meta.warc.zst": "a-b-00001-000000000000123-10.meta.warc.zst",
	} {
		if got := nextName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Records that do not belong into a file are skipped; what makes the stage panic is rejected.
func TestOddRecords(t *testing.T) {
	b := newBench(t, t.TempDir())
	_, store := b.WithBodies()
	gone, key := b.Page("gone")
	if err := store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	large, _ := b.Page("large")
	b.Write(b.Names.Fetched, "garbage", string(gone), string(large))
	b.finish(b.options(b.bucket), 3)
	if b.Counts.Reasons["archive body_missing"] != 1 {
		t.Errorf("counted: %v", b.Counts.Reasons)
	}
	index := ""
	for name, text := range b.objects() {
		if strings.HasSuffix(name, IndexExtension) {
			index += text
		}
	}
	if strings.Count(index, "\n") != 1 || !strings.Contains(index, "http://k.example/large") {
		t.Errorf("index: %s", index)
	}
}

// A large body is archived as it came, without reading its decoded form; and decoded, if the store
// has lost the other form.
func TestLargeCodedBodies(t *testing.T) {
	b := newBench(t, t.TempDir())
	_, store := b.WithBodies()
	large := func(n int) (value, key string) {
		x := exchange(n)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(x.Body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		ref, err := b.Bodies.Put(t.Context(), 0, x.Id, x.Body, packed.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		x.Body, x.Stored, x.ResponseHead = nil, ref, []byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
		return string(stage.Encode(x)), ref.Key
	}
	whole, key := large(0)
	lost, lostKey := large(1)
	if err := errors.Join(store.Delete(t.Context(), key), store.Delete(t.Context(), lostKey+".coded")); err != nil {
		t.Fatal(err)
	}
	b.Write(b.Names.Fetched, whole, lost)
	o := b.options(b.bucket)
	o.FileBytes = 1 << 20
	b.finish(o, 2)
	var found int
	for name, text := range b.objects() {
		if strings.HasSuffix(name, IndexExtension) {
			continue
		}
		for _, record := range members(t, text) {
			if record.Field("WARC-Type") != "response" {
				continue
			}
			found++
			block := string(record.Block)
			coded := record.Field("WARC-Target-URI") == exchange(0).Request.Target.Url
			if coded != strings.Contains(block, "\r\nContent-Encoding: gzip\r\n") || coded != strings.Contains(block, "\r\n\r\n\x1f\x8b") ||
				coded == strings.HasSuffix(block, string(exchange(1).Body)) {
				t.Errorf("%s: %.300q", record.Field("WARC-Target-URI"), block)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d responses", found)
	}
}

// Draft files have no name that a killed process could leave.
func TestDraftsHaveNoNames(t *testing.T) {
	dir := t.TempDir()
	d, err := newDraft(warc.Head{Name: "a"}, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if names, err := filepath.Glob(dir + "/*"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
}
