package warc

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs"
)

// The spool gives back what was added, from memory and from the disk, and its index is that of CDXJ.
func TestSpool(t *testing.T) {
	s := spool{file: scratch(t)}
	var entries []Entry
	var places []int64
	for n := range 2000 { // 500 kB
		e := spooled{
			Entry: Entry{
				Date: time.UnixMilli(int64(n%7) * 1001).UTC(), URL: fmt.Sprintf("http://example.com/%d?a=\"ü\"", n*7919%200),
				MIME: "text/html", Status: "200", Digest: "sha1:A", Offset: int64(n) * 1000, Length: 1,
			},
			id: fmt.Sprintf("<urn:uuid:%d>", n),
		}
		place, err := s.add(&e)
		must(t, err)
		entries, places = append(entries, e.Entry), append(places, place)
	}
	for n, place := range places {
		got, err := s.read(place)
		if want := (reference{fmt.Sprintf("<urn:uuid:%d>", n), entries[n].URL, entries[n].Date.Format(dateFormat)}); err != nil || got != want {
			t.Fatalf("entry %d: %+v, %v; want %+v", n, got, err, want)
		}
	}
	if s.size == 0 || len(s.tail) == 0 {
		t.Errorf("%d bytes on the disk, %d in memory", s.size, len(s.tail))
	}
	for _, name := range []string{"a.warc.gz", `a"-2.warc.zst`} { // the name that is refused, and the next one
		r, err := s.sorted(name, 321)
		must(t, err)
		got, err := io.ReadAll(r)
		must(t, err)
		if want := CDXJ(slices.Clone(entries), name, 321); string(got) != string(want) {
			t.Errorf("%s: an index of %d bytes, which begins with %.300s; want %d bytes, %.300s", name, len(got), got, len(want), want)
		}
	}
}

// An open file keeps little of each response: here they are redirects, of which 1 GB has over a million.
func TestOpenFilesTakeLittleMemory(t *testing.T) {
	const responses = 2000
	p, err := NewPacker(Options{Level: 1})
	must(t, err)
	f := NewFile(io.Discard, scratch(t), p)
	var before int64
	for n := range 500 + responses {
		if n == 500 { // buffers have grown
			before = heap()
		}
		x := exchange(n, fmt.Sprintf("moved to %d", n)) // another payload each
		must(t, f.Add(x, codecs.ParsedArchived{Offset: int64(n)}))
	}
	each := (heap() - before) / responses
	if f.Responses() != 500+responses || each > 120 {
		t.Errorf("%d responses, %d bytes of heap for each", f.Responses(), each)
	}
	runtime.KeepAlive(f)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
