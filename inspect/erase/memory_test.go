package erase

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
)

// A file may have a million records that go. Each of them takes less than 100 bytes of memory: their
// headers would take 2 KB.
func TestScanKeepsOnlyPlaces(t *testing.T) {
	const pages = 5000
	b := archived.Folder(t)
	putPages(t, b, pages)
	r := &run{Options: Options{Archive: b, Selection: Domain("a.example"), Now: now}}
	before := heap()
	f, err := r.scan(t.Context(), "c-0f-00000-000.warc.gz")
	took := heap() - before
	if err != nil || len(f.erased) != 2*pages || len(f.originals) != pages {
		t.Fatalf("%d records, %d responses, %v", len(f.erased), len(f.originals), err)
	}
	if most := int64(100 * 2 * pages); took > most {
		t.Errorf("%d records take %d bytes", len(f.erased), took)
	}
}

// weighing is a bucket that measures what is in use when an index is put.
type weighing struct {
	blob.Bucket
	heap *int64
}

func (w weighing) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	if kept.IsIndex(key) {
		*w.heap = heap()
	}
	return w.Bucket.Put(ctx, key, body, size)
}

// An index may have a million lines, and is not in memory either.
func TestIndexIsEditedOnTheDisk(t *testing.T) {
	const lines, name = 20000, "c-0f-00000-000.000000000000001.cdxj"
	var entries []warc.Entry
	for n := range lines {
		entries = append(entries, warc.Entry{URL: fmt.Sprintf("http://%s.example/%d", []string{"a", "b"}[n%2], n), Date: archived.Began, Offset: int64(n), Length: 1})
	}
	before := warc.CDXJ(entries, "c-0f-00000-000.warc.gz", 0)
	b := archived.Folder(t)
	archived.PutText(t, b, name, string(before))
	took := int64(0)
	r := &run{Options: Options{Archive: weighing{b, &took}, Selection: Domain("a.example"), Now: now}}
	began := heap()
	if err := r.editIndex(t.Context(), name, nil, nil); err != nil {
		t.Fatal(err)
	}
	if took -= began; took > int64(len(before)/8) {
		t.Errorf("%d of %d bytes are in memory", took, len(before))
	}
	var want strings.Builder
	for line := range strings.Lines(string(before)) {
		if strings.Contains(line, "http://b.example/") {
			want.WriteString(line)
		}
	}
	if text(t, b, name) != want.String() {
		t.Error("it has other lines")
	}
}

// Lines with a new place are sorted among those of the same URL and time.
func TestIndexStaysSorted(t *testing.T) {
	const file, name = "c-0f-00000-000.warc.gz", "c-0f-00000-000.000000000000001.cdxj"
	entry := func(url string, offset int64) warc.Entry {
		return warc.Entry{URL: "http://a.example/" + url, Date: archived.Began, MIME: "text/html", Offset: offset, Length: 100}
	}
	b := archived.Folder(t)
	archived.PutText(t, b, name, string(warc.CDXJ([]warc.Entry{entry("1", 100), entry("1", 200), entry("1", 300), entry("2", 400), entry("3", 500)}, file, 0)))
	r := &run{Options: Options{Archive: b, Selection: Domain("other.example"), Now: now}}
	places := map[int64]moved{100: {span{900, 100}, "text/html"}, 400: {span{1000, 100}, "text/html"}}
	if err := r.editIndex(t.Context(), name, []span{{300, 100}}, places); err != nil {
		t.Fatal(err)
	}
	if want := string(warc.CDXJ([]warc.Entry{entry("1", 900), entry("1", 200), entry("2", 1000), entry("3", 500)}, file, 0)); text(t, b, name) != want {
		t.Errorf("%s\nwant\n%s", text(t, b, name), want)
	}
}

// putPages puts one file with so many pages.
func putPages(t *testing.T, b blob.Bucket, pages int) {
	t.Helper()
	all := make([]*weftpb.Fetched, pages)
	for n := range all {
		url := fmt.Sprint("http://a.example/", n)
		all[n] = archived.Exchange(url, "text of "+url, archived.Began)
	}
	archived.Put(t, b, warc.Gzip, "c-0f-00000-000", nil, all...)
}

// heap is the memory of what is in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
