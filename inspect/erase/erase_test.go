package erase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/parquet-go/parquet-go"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
	"github.com/weftcrawl/weft/test/s3server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var now = archived.Began.Add(100 * 24 * time.Hour)

// secret is in all that a crawl knows of the pages that are erased: in URLs and in texts.
const secret = "s3cr3t"

var erased = "http://a.example/" + secret

// body is the text of a page. That of the erased one is also the text of two other pages.
func body(url string) string { return "<title>Page</title>" + strings.Repeat("text of "+url+" ", 50) }

// shared is a body that the erased page and others have.
var shared = body("many pages")

// fill makes an archive: one file has the erased page before copies of it, one has nothing else, and one
// has another page. It has a merged index, a table, the index of a draft, and copies of pages.
func fill(t testing.TB, b, pages blob.Bucket) {
	t.Helper()
	at := func(url, text string, after time.Duration) *weftpb.Fetched {
		return archived.Exchange(url, text, archived.Began.Add(after))
	}
	failed := &weftpb.Fetched{
		Id: "failed", Request: &weftpb.Request{Target: &weftpb.Target{Url: erased}},
		Outcome: &weftpb.Outcome{ErrorClass: "timeout", StartedMs: archived.Began.UnixMilli()},
	}
	coded := func(url string) *weftpb.Fetched {
		x := at(url, "", 0)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err := io.WriteString(w, body("coded pages"))
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		x.CodedBody, x.ResponseHead = packed.Bytes(), []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
		return x
	}
	archived.Put(t, b, warc.Gzip, "c-0f-00000-000", nil,
		at("http://a.example/", body("a"), 0), at(erased, shared, time.Second), at("http://a.example/copy", shared, 2*time.Second),
		at(erased, body(secret), 3*time.Second), failed, at("http://b.example/copy", shared, 4*time.Second),
		coded(erased), coded("http://b.example/coded"))
	archived.Put(t, b, warc.Zstd, "c-0f-00001-000", nil, at(erased, body(secret+" alone"), 0), failed)
	archived.Put(t, b, warc.Zstd, "c-0f-00002-000", nil, at(erased, shared, 0), at("http://b.example/", body("b"), time.Second), at("http://b.example/copy2", shared, time.Second))
	archived.Put(t, b, warc.Gzip, "c-0f-00003-000", nil, at("http://b.example/other", body("other"), 0))
	page := func(url string) warc.Metadata {
		return warc.Metadata{ID: "id of " + url, URL: url, Date: archived.Began, JSON: fmt.Appendf(nil, `{"title":"Page","detected_language":"fr","links":["%s/link"]}`, url)}
	}
	archived.PutMetadata(t, b, warc.Gzip, "c-1f-00000-000", page("http://a.example/"), page(erased))
	archived.PutMetadata(t, b, warc.Zstd, "c-1f-00001-000", page(erased))
	if _, err := table.Make(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kept.Merge(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	archived.PutText(t, b, "c-0f-00009-000.000000000000009.cdxj", text(t, b, "c-0f-00001-000.000000000000002.cdxj"))
	line := func(url string) string {
		return fmt.Sprintf(`{"url":"%s","fetched_at":"%s","text":"text of %s"}`+"\n", url, archived.Began.Format(time.RFC3339), url)
	}
	lines := line("http://a.example/") + line(erased) + line("http://b.example/")
	archived.PutText(t, pages, "pages-000001.jsonl", lines)
	archived.PutText(t, pages, "c-0f-00001-000.jsonl", line(erased))
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err == nil {
		_, err = io.WriteString(w, lines)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	archived.PutText(t, pages, "c-0f-00000-000.jsonl.zst", packed.String())
}

func text(t testing.TB, b blob.Bucket, key string) string {
	t.Helper()
	var text bytes.Buffer
	if err := b.Get(t.Context(), key, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// contents are the objects of a bucket.
func contents(t testing.TB, b blob.Bucket) map[string]string {
	t.Helper()
	all := map[string]string{}
	for o, err := range b.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all[o.Key] = text(t, b, o.Key)
	}
	return all
}

// plainly are the bytes of an object without compression.
func plainly(t testing.TB, name, text string) string {
	t.Helper()
	var out []byte
	var err error
	switch {
	case strings.HasSuffix(name, ".gz"):
		z, failed := gzip.NewReader(strings.NewReader(text))
		if failed != nil {
			t.Fatal(name, failed)
		}
		out, err = io.ReadAll(z)
	case strings.HasSuffix(name, ".zst"):
		var d *zstd.Decoder
		if d, err = zstd.NewReader(nil); err == nil {
			defer d.Close()
			out, err = d.DecodeAll([]byte(text), nil)
		}
	case strings.HasSuffix(name, ".parquet"):
		rows, failed := parquet.Read[table.Row](strings.NewReader(text), int64(len(text)))
		for _, row := range rows {
			out = fmt.Appendf(out, "%+v %s\n", row, row.URL)
		}
		err = failed
	default:
		out = []byte(text)
	}
	if err != nil {
		t.Fatal(name, err)
	}
	return text + string(out)
}

func search(t testing.TB, b blob.Bucket) (found []string) {
	t.Helper()
	for name, text := range contents(t, b) {
		if strings.Contains(plainly(t, name, text), secret) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// whole tells that everything else is there: found by the merged index, by the indexes, and in the table.
func whole(t *testing.T, b, pages blob.Bucket) {
	t.Helper()
	for _, without := range []bool{false, true} {
		if without {
			if err := kept.Forget(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		for url, want := range map[string]string{
			"http://a.example/": body("a"), "http://a.example/copy": shared, "http://b.example/copy": shared, "http://b.example/": body("b"),
			"http://b.example/copy2": shared, "http://b.example/other": body("other"), "http://b.example/coded": body("coded pages"),
		} {
			x, err := kept.Find(t.Context(), b, url, now)
			if err != nil {
				t.Errorf("%s: %v", url, err)
				continue
			}
			if got, err := x.Body(t.Context()); err != nil || string(got) != want || x.Foreign {
				t.Errorf("%s: %.100q, %v", url, got, err)
			}
		}
		if x, err := kept.Find(t.Context(), b, erased, now); !errors.Is(err, kept.ErrNone) {
			t.Errorf("%+v, %v", x, err)
		}
	}
	rows := 0
	for name, text := range contents(t, b) {
		if strings.HasSuffix(name, ".parquet") {
			all, err := parquet.Read[table.Row](strings.NewReader(text), int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			rows += len(all)
			for _, row := range all {
				var member bytes.Buffer
				if err := b.GetRange(t.Context(), row.File, row.Offset, int64(row.Length), &member); err != nil {
					t.Fatal(err)
				}
				if r, err := warc.ReadMember(member.Bytes()); err != nil || r.Field("WARC-Target-URI") != row.URL {
					t.Errorf("the table says %s, and there is %q, %v", row.URL, r.Field("WARC-Target-URI"), err)
				}
			}
		}
	}
	if rows != 7 {
		t.Errorf("the table has %d rows", rows)
	}
	for name, want := range map[string]int{"pages-000001.jsonl": 2, "c-0f-00001-000.jsonl": 0, "c-0f-00000-000.jsonl.zst": 2} {
		all := contents(t, pages)[name]
		if strings.HasSuffix(name, ".zst") {
			all = strings.TrimPrefix(plainly(t, name, all), all)
		}
		if n := strings.Count(all, "\n"); n != want {
			t.Errorf("%s has %d pages", name, n)
		}
	}
}

func options(b, pages blob.Bucket) Options {
	return Options{Archive: b, Pages: []blob.Bucket{pages}, Selection: URL(erased), Now: now, Patience: -1}
}

// check erases and looks at all that is left.
func check(t *testing.T, b, pages blob.Bucket) {
	t.Helper()
	before := contents(t, b)
	found, err := Search(t.Context(), options(b, pages))
	if err != nil || !maps.Equal(before, contents(t, b)) {
		t.Fatalf("searching changes the archive: %v", err)
	}
	report, err := Run(t.Context(), options(b, pages))
	if err != nil {
		t.Fatal(err)
	}
	// Requests and failures count, too.
	want := Report{Records: 14, Moved: 4, Pages: 3, Files: 6, Deleted: 2, Indexes: 5, Read: 6}
	if report != want {
		t.Errorf("%+v, want %+v", report, want)
	}
	if want.Indexes += 3; found.Records != want.Records || found.Indexes != want.Indexes || found.Pages != want.Pages {
		t.Errorf("the search before: %+v", found)
	}
	if left := search(t, b); len(left) > 0 {
		t.Errorf("%q have it", left)
	}
	if left := search(t, pages); len(left) > 0 {
		t.Errorf("%q have it", left)
	}
	after := contents(t, b)
	if after["c-0f-00003-000.warc.gz"] != before["c-0f-00003-000.warc.gz"] || after["c-0f-00001-000.warc.zst"] != "" || after["c-1f-00001-000.meta.warc.zst"] != "" {
		t.Error("a file without the page was changed, or one without other pages is still there")
	}
	log := after["erasures/20270209T120000.000Z.json"]
	if !strings.Contains(log, URL(erased).sum()) || !strings.Contains(log, `"records": 14`) || after[unfinishedName] != "" {
		t.Errorf("the log: %s", log)
	}
	whole(t, b, pages)
	offsets(t, before, after)
}

// offsets tells that the lines of indexes are those of before, except for what moved.
func offsets(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, index := range before {
		if !kept.IsIndex(name) {
			continue
		}
		for line := range strings.Lines(index) {
			stays := !strings.Contains(line, secret) && !strings.Contains(line, "/copy") && !strings.Contains(line, "/coded")
			if stays && !strings.Contains(after[name], line) {
				t.Errorf("%s changed, or is gone", line)
			}
		}
	}
}

func TestErase(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	check(t, b, pages)
}

func TestEraseInABucket(t *testing.T) {
	location := s3server.Gateway(t, "erase")
	at := func(prefix string) blob.Bucket { return archived.In(t, location, prefix) }
	b, pages := at("archive"), at("pages")
	fill(t, b, pages)
	check(t, b, pages)
}

// dying is a bucket whose process dies before or after one of its changes.
type dying struct {
	blob.Bucket
	left  *int
	after bool
	die   context.CancelFunc
}

var errDied = errors.New("the process has died")

func (d dying) step(do func() error) error {
	*d.left--
	if *d.left < 0 || *d.left == 0 && !d.after {
		d.die()
		return errDied
	}
	err := do()
	if *d.left == 0 {
		d.die()
		return errDied
	}
	return err
}

func (d dying) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	return d.step(func() error { return d.Bucket.Put(ctx, key, body, size) })
}

func (d dying) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	return d.step(func() error { return d.Bucket.PutNew(ctx, key, body, size) })
}

func (d dying) Delete(ctx context.Context, key string) error {
	return d.step(func() error { return d.Bucket.Delete(ctx, key) })
}

// A process may die before and after each change of the archive. Each file is then in its old form or in
// its new one, and the same command finishes. The archive is then the same as without a death.
func TestKilledAtEachStep(t *testing.T) {
	stride, least := 1, 30
	if testing.Short() {
		stride, least = 7, 5
	}
	for name, selection := range map[string]Selection{"url": URL(erased), "age": Older(Keep{Domains: map[string]time.Duration{"a.example": 90 * 24 * time.Hour}}, now)} {
		t.Run(name, func(t *testing.T) { killedAtEachStep(t, selection, stride, least) })
	}
}

func killedAtEachStep(t *testing.T, selection Selection, stride, least int) {
	model, modelPages := archived.Folder(t), archived.Folder(t)
	fill(t, model, modelPages)
	before, beforePages := contents(t, model), contents(t, modelPages)
	o := options(model, modelPages)
	o.Selection = selection
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := contents(t, model)
	steps := 0
	for _, after := range []bool{false, true} {
		for step := 1; ; step += stride {
			b, pages := archived.Folder(t), archived.Folder(t)
			for key, text := range before {
				archived.PutText(t, b, key, text)
			}
			for key, text := range beforePages {
				archived.PutText(t, pages, key, text)
			}
			ctx, die := context.WithCancel(t.Context())
			left := step
			o := options(dying{b, &left, after, die}, dying{pages, &left, after, die})
			o.Selection = selection
			_, err := Run(ctx, o)
			die()
			for name, text := range contents(t, b) {
				if warcOrIndex(name) && text != before[name] && text != want[name] {
					t.Errorf("step %d: %s is neither as before nor as after", step, name)
				}
			}
			if left > 0 {
				if err != nil {
					t.Error(err)
				}
				break
			}
			steps++
			if err == nil {
				t.Errorf("step %d: the death had no error", step)
			}
			o = options(b, pages)
			o.Selection = selection
			if left := contents(t, b); left[unfinishedName] != "" {
				o.Now = now.Add(time.Minute) // the time of the erasure is that of its first run
			} else if left["erasures/20270209T120000.000Z.json"] != "" {
				continue // it died after the last step
			}
			if _, err := Run(t.Context(), o); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			got := contents(t, b)
			for name := range want {
				if !strings.HasPrefix(name, logFolder) && !strings.HasPrefix(name, "index/merged") && got[name] != want[name] {
					t.Errorf("step %d: %s is not as without a death", step, name)
				}
			}
			if len(got) < len(want) || !maps.Equal(contents(t, pages), contents(t, modelPages)) {
				t.Errorf("step %d: %d objects, want %d", step, len(got), len(want))
			}
		}
	}
	if steps < least {
		t.Errorf("the process died at %d steps only", steps)
	}
}

func warcOrIndex(name string) bool {
	return archive.IsFile(name) || archive.IsMetadata(name) || kept.IsIndex(name)
}

// Another erasure waits until the one that was killed is finished.
func TestOneAtATime(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	ctx, die := context.WithCancel(t.Context())
	left := 3
	if _, err := Run(ctx, options(dying{b, &left, true, die}, pages)); err == nil {
		t.Fatal("it did not die")
	}
	other := options(b, pages)
	other.Selection = Domain("a.example")
	if _, err := Run(t.Context(), other); !errors.Is(err, ErrUnfinished) || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
	if _, err := Run(t.Context(), options(b, pages)); err != nil {
		t.Error(err)
	}
	if _, err := Run(t.Context(), other); err != nil {
		t.Error(err)
	}
	if left, err := Search(t.Context(), other); err != nil || left.Found() > 0 {
		t.Errorf("%+v, %v", left, err)
	}
	for name, text := range contents(t, b) {
		if plain := plainly(t, name, text); strings.Contains(plain, "a.example") && !strings.HasPrefix(name, logFolder) {
			t.Errorf("%s has the domain", name)
		}
	}
}

// What is too old goes, by domain, and files that have nothing else.
func TestOlder(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	o := options(b, pages)
	o.Selection = Older(Keep{Default: 365 * 24 * time.Hour, Domains: map[string]time.Duration{"b.example": 100*24*time.Hour - 2*time.Second}}, now)
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// b.example has records up to 4 s after the first ones. A file whose index has none of them is not read.
	if want := (Report{Records: 8, Pages: 2, Files: 4, Deleted: 1, Indexes: 4, Read: 5}); report != want {
		t.Errorf("%+v, want %+v", report, want)
	}
	for url, stays := range map[string]bool{
		erased: true, "http://a.example/": true, "http://b.example/copy": true,
		"http://b.example/": false, "http://b.example/other": false, "http://b.example/coded": false,
	} {
		if _, err := kept.Find(t.Context(), b, url, now); (err == nil) != stays {
			t.Errorf("%s: %v", url, err)
		}
	}
	o.Selection = Older(Keep{Default: time.Hour}, now)
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for name := range contents(t, b) {
		if !strings.HasPrefix(name, logFolder) {
			t.Errorf("%s stays", name)
		}
	}
}

// In generations of other formats nothing is erased, and nothing is begun.
func TestOtherCopies(t *testing.T) {
	for _, name := range []string{"c-0f-00000-000.parquet", "domain=a.example/c-0f-00000-000.jsonl", "c-0f-00000-000.warc.wet.gz"} {
		b, pages := archived.Folder(t), archived.Folder(t)
		fill(t, b, pages)
		archived.PutText(t, pages, name, "")
		before := contents(t, b)
		if _, err := Run(t.Context(), options(b, pages)); !errors.Is(err, ErrOtherCopy) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Search(t.Context(), options(b, pages)); !errors.Is(err, ErrOtherCopy) {
			t.Errorf("%s: %v", name, err)
		}
		if !maps.Equal(before, contents(t, b)) {
			t.Errorf("%s: the archive is changed", name)
		}
	}
}

// A file that cannot be read is named, and stays.
func TestDamagedFile(t *testing.T) {
	b, pages := archived.Folder(t), archived.Folder(t)
	fill(t, b, pages)
	damaged := text(t, b, "c-0f-00000-000.warc.gz")
	damaged = damaged[:len(damaged)-10]
	archived.PutText(t, b, "c-0f-00000-000.warc.gz", damaged)
	if _, err := Run(t.Context(), options(b, pages)); !errors.Is(err, warc.ErrRecord) || !strings.Contains(err.Error(), "c-0f-00000-000.warc.gz") {
		t.Error(err)
	}
	if text(t, b, "c-0f-00000-000.warc.gz") != damaged {
		t.Error("it is changed")
	}
}
