package erase

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
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
