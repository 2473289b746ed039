package reparse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
	"github.com/weftcrawl/weft/test/s3server"
	"github.com/weftcrawl/weft/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pageOf is the exchange of a page.
func pageOf(url, body string) *weftpb.Fetched {
	x := archived.Exchange(url, body, archived.Began)
	x.Request.Target.Depth = 2
	return x
}

// with changes an exchange.
func with(x *weftpb.Fetched, change func(*weftpb.Fetched)) *weftpb.Fetched {
	change(x)
	return x
}

var definition = topics.Definition{Crawl: "c", Partitions: 4, Archive: topics.InData}

// keep puts a file with its index into an archive.
func keep(t testing.TB, b blob.Bucket, c warc.Compression, stem string, all ...*weftpb.Fetched) {
	t.Helper()
	text, err := json.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	archived.Put(t, b, c, stem, []warc.Field{{Name: "weft-definition", Value: string(text)}}, all...)
}

func options(archive, generation blob.Bucket) Options {
	return Options{
		Archive: archive, Generation: generation, Redefine: func(d topics.Definition) topics.Definition { return d }, Settings: []byte("{}"),
		Version: "test", Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

func run1(t testing.TB, o Options) Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contents are the objects of a bucket.
func contents(t testing.TB, b blob.Bucket) map[string]string {
	t.Helper()
	all := map[string]string{}
	for o, err := range b.List(t.Context(), "") {
		var text bytes.Buffer
		if err == nil {
			err = b.Get(t.Context(), o.Key, &text)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[o.Key] = text.String()
	}
	return all
}

// pagesIn are the records of a file of a generation.
func pagesIn(t *testing.T, text string) (all []codecs.Parsed) {
	t.Helper()
	for line := range strings.Lines(text) {
		var p codecs.Parsed
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// fill makes an archive of three files with 40 pages each, some of them copies.
func fill(t testing.TB, b blob.Bucket) {
	t.Helper()
	for n := range 3 {
		var all []*weftpb.Fetched
		for i := range 40 {
			all = append(all, pageOf(fmt.Sprintf("http://%d.example/%d", n, i), fmt.Sprintf("<title>Page %d</title><p>Text", i%30)))
		}
		keep(t, b, warc.Gzip, fmt.Sprintf("c-0f-0000%d-000", n), all...)
	}
}

// Each response has its outcome, and pages have all that the crawl knew of them.
func TestOutcomes(t *testing.T) {
	for _, c := range []warc.Compression{warc.Gzip, warc.Zstd} {
		archive, generation := archived.Folder(t), archived.Folder(t)
		robots := pageOf("http://a.example/robots.txt", "User-agent: *\nDisallow:")
		answer := func(status uint32, line string) func(*weftpb.Fetched) {
			return func(x *weftpb.Fetched) {
				x.Outcome.Status, x.ResponseHead = status, []byte("HTTP/1.1 "+line+"\r\n\r\n")
			}
		}
		keep(t, archive, c, "c-0f-00003-000",
			&weftpb.Fetched{Robots: robots},
			pageOf("http://a.example/", "<title>First</title>"),
			with(pageOf("http://a.example/used", "<title>Used</title>"), func(x *weftpb.Fetched) { x.Request.Usage = "content-usage: train-ai=n\n" }),
			with(pageOf("http://a.example/cut", "<title>Cut</title>"), func(x *weftpb.Fetched) { x.Outcome.Truncated = true }),
			with(pageOf("http://a.example/old", ""), answer(304, "304 Not Modified")),
			with(pageOf("http://a.example/gone", "no"), answer(404, "404 Not Found")),
			with(pageOf("http://a.example/moved", ""), answer(301, "301 Moved\r\nLocation: /")),
			with(pageOf("http://a.example/image", ""), func(x *weftpb.Fetched) { x.Outcome.ErrorClass = "unwanted_type" }),
			with(pageOf("http://a.example/sitemap.xml", "http://a.example/x"), func(x *weftpb.Fetched) {
				x.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
				x.Request.Target.Sitemap = &weftpb.Sitemap{Level: 1}
			}),
			pageOf("http://a.example/copy", "<title>First</title>"),
			with(pageOf("http://a.example/bad", ""), func(x *weftpb.Fetched) {
				x.ResponseHead, x.CodedBody = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"), []byte("\x1f\x8bnot gzip at all")
			}),
			&weftpb.Fetched{Request: &weftpb.Request{Target: &weftpb.Target{Url: "http://a.example/failed"}}, Outcome: &weftpb.Outcome{ErrorClass: "timeout"}},
		)
		r := run1(t, options(archive, generation))
		want := map[Outcome]int64{Page: 4, NoPage: 6, Unreadable: 1}
		if !maps.Equal(r.Outcomes, want) {
			t.Errorf("%s: %v, want %v", c, r.Outcomes, want)
		}
		var got []codecs.Parsed
		for _, p := range pagesIn(t, contents(t, generation)["c-0f-00003-000.jsonl"]) {
			got = append(got, codecs.Parsed{ID: p.ID, URL: p.URL, Title: p.Title, Domain: p.Domain, Crawl: p.Crawl, Depth: p.Depth, Status: p.Status, FetchedAt: p.FetchedAt, Truncated: p.Truncated, Usage: p.Usage, Archived: p.Archived})
		}
		record := func(url, title string, offset int64) codecs.Parsed {
			return codecs.Parsed{
				ID: "id of " + url, URL: url, Title: title, Domain: "a.example", Crawl: "c", Depth: 2, Status: 200, FetchedAt: archived.Began,
				Archived: &codecs.ParsedArchived{Partition: 3, Offset: offset},
			}
		}
		used, cut := record("http://a.example/used", "Used", 2), record("http://a.example/cut", "Cut", 3)
		used.Usage, cut.Truncated = map[string]string{"train-ai": "n"}, true
		if diff := cmp.Diff([]codecs.Parsed{record("http://a.example/", "First", 1), used, cut, record("http://a.example/copy", "First", 9)}, got); diff != "" {
			t.Error(diff)
		}
	}
}

// HTML in place of a sitemap is a page if it was one in the crawl.
func TestPagesInPlaceOfSitemaps(t *testing.T) {
	archive, generation := archived.Folder(t), archived.Folder(t)
	named := func(url string, told *weftpb.Sitemap) *weftpb.Fetched {
		return with(pageOf(url, "<title>T</title>"), func(x *weftpb.Fetched) { x.Request.Target.Sitemap = told })
	}
	keep(t, archive, warc.Gzip, "c-0f-00003-000",
		named("http://a.example/list", &weftpb.Sitemap{Level: 1, Host: "a.example"}),
		named("http://b.example/lander", &weftpb.Sitemap{Level: 1, Host: "a.example", Root: "http://a.example/old.xml", OutOfScope: true}),
		named("http://a.example/sitemap.xml", &weftpb.Sitemap{Level: 1, Host: "a.example", Guessed: true}),
		named("http://a.example/sitemap.html", &weftpb.Sitemap{Level: 1, Host: "a.example", Root: "http://a.example/sitemap.xml", Guessed: true}),
	)
	run1(t, options(archive, generation))
	var got []string
	for _, p := range pagesIn(t, contents(t, generation)["c-0f-00003-000.jsonl"]) {
		got = append(got, p.URL)
	}
	if diff := cmp.Diff([]string{"http://a.example/list", "http://a.example/sitemap.html"}, got); diff != "" {
		t.Error(diff)
	}
}

// Payloads that do not fit in memory are read again.
func TestPayloadsThatAreNotKept(t *testing.T) {
	archive := archived.Folder(t)
	fill(t, archive)
	s, err := openSource(t.Context(), archive, "c-0f-00001-000.warc.gz")
	if err != nil {
		t.Fatal(err)
	}
	index, err := s.index(t.Context())
	if err != nil || len(index) != 40 {
		t.Fatal(len(index), err)
	}
	known := newPayloads(index)
	known.bytes = keptBytes // full
	n := 0
	for i := range index {
		var member bytes.Buffer
		if err := archive.GetRange(t.Context(), s.name, index[i].offset, index[i].length, &member); err != nil {
			t.Fatal(err)
		}
		one, err := s.resolve(t.Context(), known, &index[i], member.Bytes())
		if want := fmt.Sprintf("<title>Page %d</title><p>Text", i%30); err != nil || one.outcome != "" || string(one.payload) != want {
			t.Errorf("%d: %q, %s, %v", i, one.payload, one.outcome, err)
		}
		if index[i].revisit {
			n++
		}
	}
	if n != 10 || len(known.kept) != 0 {
		t.Errorf("%d revisits, and %d payloads are kept", n, len(known.kept))
	}
	none := newPayloads(index[39:])
	var member bytes.Buffer
	if err := archive.GetRange(t.Context(), s.name, index[39].offset, index[39].length, &member); err != nil {
		t.Fatal(err)
	}
	if one, err := s.resolve(t.Context(), none, &index[39], member.Bytes()); err != nil || one.outcome != NoPayload {
		t.Errorf("without its payload: %+v, %v", one, err)
	}
}

// dying is a bucket whose process dies at one of its steps: before it is done, or after it.
type dying struct {
	blob.Bucket
	left  *atomic.Int64
	after bool
	die   context.CancelFunc
}

var errDied = errors.New("the process has died")

func (d dying) step(do func() error) error {
	left := d.left.Add(-1)
	if left < 0 || left == 0 && !d.after {
		d.die()
		return errDied
	}
	err := do()
	if left == 0 {
		d.die()
		return errDied
	}
	return err
}

func (d dying) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	return d.step(func() error { return d.Bucket.PutNew(ctx, key, body, size) })
}

func (d dying) Get(ctx context.Context, key string, w io.Writer) error {
	return d.step(func() error { return d.Bucket.Get(ctx, key, w) })
}

func (d dying) GetRange(ctx context.Context, key string, offset, length int64, w io.Writer) error {
	return d.step(func() error { return d.Bucket.GetRange(ctx, key, offset, length, w) })
}

func (d dying) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	if err := d.step(func() error { return nil }); err != nil {
		return func(yield func(blob.Object, error) bool) { yield(blob.Object{}, err) }
	}
	return d.Bucket.List(ctx, prefix)
}

// A process may die before and after each step. The next one makes what is missing, and the generation
// is the same as without a death.
func TestKilledAtEachStep(t *testing.T) {
	for i, f := range formats {
		stride, least := int64(1), 15
		switch {
		case testing.Short() && i > 0:
			return
		case f.Format == Objects:
			stride, least = 64, 4 // of about 500
		case testing.Short() || i > 0:
			stride, least = 4, 4
		}
		t.Run(fmt.Sprint(f.Format, f.Partition), func(t *testing.T) { killedAtEachStep(t, f, stride, least) })
	}
}

func killedAtEachStep(t *testing.T, f Options, stride int64, least int) {
	archive, whole := archived.Folder(t), archived.Folder(t)
	fill(t, archive)
	run1(t, as(f, options(archive, whole)))
	want := contents(t, whole)
	for _, after := range []bool{false, true} {
		died := 0
		for step := int64(1); ; step += stride {
			generation := archived.Folder(t)
			ctx, die := context.WithCancel(t.Context())
			left := new(atomic.Int64)
			left.Store(step)
			_, err := Run(ctx, as(f, options(dying{archive, left, after, die}, dying{generation, left, after, die})))
			die()
			before := contents(t, generation)
			for name, text := range before {
				if text != want[name] {
					t.Errorf("step %d: %s is there, and not as it should be", step, name)
				}
			}
			r := run1(t, as(f, options(archive, generation)))
			if diff := cmp.Diff(want, contents(t, generation)); diff != "" {
				t.Errorf("step %d: %s", step, diff)
			}
			if files := len(before) - 1; f.Partition == "" && f.Format != Objects && files > 0 && r.Before != files || r.Before+r.Files != 3 {
				t.Errorf("step %d: %d files were there, and the next run says %+v", step, files, r)
			}
			if left.Load() > 0 {
				if err != nil {
					t.Error(err)
				}
				break
			}
			if died++; err == nil {
				t.Errorf("step %d: the death had no error", step)
			}
		}
		if died < least {
			t.Errorf("the process died at %d steps only", died)
		}
	}
}

// Processes that make one generation at the same time make each file once, and any number of workers
// makes the same bytes.
func TestManyProcesses(t *testing.T) {
	archive, alone, together := archived.Folder(t), archived.Folder(t), archived.Folder(t)
	fill(t, archive)
	o := options(archive, alone)
	o.Workers, o.InFlight = 1, 1
	run1(t, o)
	var wait sync.WaitGroup
	var made atomic.Int64
	for range 4 {
		wait.Go(func() {
			r, err := Run(t.Context(), options(archive, together))
			if err != nil || r.Before+r.Files != 3 {
				t.Errorf("%+v, %v", r, err)
			}
			made.Add(int64(r.Files))
		})
	}
	wait.Wait()
	if diff := cmp.Diff(contents(t, alone), contents(t, together)); diff != "" || made.Load() != 3 {
		t.Errorf("%d files were made:\n%s", made.Load(), diff)
	}
	shared, files := archived.Folder(t), 0
	for k := 1; k <= 5; k++ {
		o := options(archive, shared)
		o.Share, o.Shares = k, 5
		r := run1(t, o)
		if files += r.Files; r.Files+r.Others != 3 {
			t.Errorf("share %d: %+v", k, r)
		}
	}
	if diff := cmp.Diff(contents(t, alone), contents(t, shared)); diff != "" || files != 3 {
		t.Errorf("the shares made %d files:\n%s", files, diff)
	}
}

// What is not a file of this version is left out, and a damaged one is an error. It leaves nothing.
func TestFilesThatAreNotRead(t *testing.T) {
	archive, generation := archived.Folder(t), archived.Folder(t)
	if _, err := Run(t.Context(), options(archive, generation)); err == nil || !strings.Contains(err.Error(), "there is no file of an archive") {
		t.Error(err)
	}
	if there := contents(t, generation); len(there) > 0 {
		t.Errorf("a misspelt archive begins a generation: %v", there)
	}
	fill(t, archive)
	archived.PutText(t, archive, "other.warc.gz", "not a WARC file")
	archived.PutText(t, archive, "c-0f-00000-000.meta.warc.gz", "metadata is not read")
	damaged := "c-0f-00001-000.warc.gz"
	text := contents(t, archive)[damaged]
	archived.PutText(t, archive, damaged, text[:len(text)/2])
	r, err := Run(t.Context(), options(archive, generation))
	if err == nil || !strings.Contains(err.Error(), "reparse "+damaged) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, there := contents(t, generation)["c-0f-00001-000.jsonl"]; there {
		t.Error("a file is there of which a part is missing")
	}
	archived.PutText(t, archive, damaged, text)
	if r := run1(t, options(archive, generation)); r.Foreign != 1 || r.Files+r.Before != 3 {
		t.Errorf("%+v", r)
	}
	other := options(archive, generation)
	other.Settings = []byte(`{"Rules":[]}`)
	if _, err := Run(t.Context(), other); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
}

// A file whose index is missing has the same pages, and a damaged one without an index is an error.
func TestWithoutIndex(t *testing.T) {
	for _, c := range []warc.Compression{warc.Gzip, warc.Zstd} {
		source, whole, generation := archived.Folder(t), archived.Folder(t), archived.Folder(t)
		keep(t, source, c, "c-0f-00003-000",
			pageOf("http://a.example/", "<title>First</title>"),
			pageOf("http://a.example/copy", "<title>First</title>"),
			with(pageOf("http://a.example/old", ""), func(x *weftpb.Fetched) {
				x.Outcome.Status, x.ResponseHead = 304, []byte("HTTP/1.1 304 Not Modified\r\n\r\n")
			}),
		)
		want := run1(t, options(source, whole))
		if err := source.Delete(t.Context(), "c-0f-00003-000.000000000000003.cdxj"); err != nil {
			t.Fatal(err)
		}
		got := run1(t, options(source, generation))
		if diff := cmp.Diff(contents(t, whole), contents(t, generation)); diff != "" || !maps.Equal(want.Outcomes, got.Outcomes) || got.Outcomes[Page] != 2 {
			t.Errorf("%s: %v, want %v: %s", c, got.Outcomes, want.Outcomes, diff)
		}
		name := "c-0f-00003-000" + c.Extension()
		text := contents(t, source)[name]
		archived.PutText(t, source, name, text[:len(text)-10])
		if _, err := Run(t.Context(), options(source, archived.Folder(t))); err == nil || !strings.Contains(err.Error(), "c-0f-00003-000.000000000000003.cdxj") {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// Archive and generation may be in a bucket.
func TestInABucket(t *testing.T) {
	location := s3server.Gateway(t, "reparse")
	at := func(prefix string) blob.Bucket { return archived.In(t, location, prefix) }
	local, archive, generation := archived.Folder(t), at("archive"), at("generation")
	fill(t, archive)
	run1(t, options(archive, local))
	run1(t, options(archive, generation))
	if diff := cmp.Diff(contents(t, local), contents(t, generation)); diff != "" {
		t.Error(diff)
	}
}
