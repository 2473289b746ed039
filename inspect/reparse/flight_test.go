package reparse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
)

// bodyBytes is the size of the bodies of coded, decoded.
const bodyBytes = 128 << 10

// coded fills an archive with two files of pages, whose bodies are small only as long as they are coded.
func coded(t *testing.T, pages int) blob.Bucket {
	t.Helper()
	b := archived.Folder(t)
	for file := range 2 {
		var all []*weftpb.Fetched
		for i := range pages {
			title := fmt.Sprintf("<title>Page %d of %d</title>", i, file)
			all = append(all, with(pageOf(fmt.Sprintf("http://%d.example/%d", file, i), ""), func(x *weftpb.Fetched) {
				x.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
				x.CodedBody = zipped(t, title+strings.Repeat(" ", bodyBytes-len(title)))
			}))
		}
		keep(t, b, warc.Gzip, fmt.Sprintf("c-0f-0000%d-000", file), all...)
	}
	return b
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gauge counts what is under way at a time.
type gauge struct {
	mu        sync.Mutex
	now, most int
}

// pass is under way for a second.
func (g *gauge) pass() {
	g.change(1)
	time.Sleep(time.Second) // of a synctest bubble: it begins when nothing else can go on
	g.change(-1)
}

func (g *gauge) change(by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += by
	g.most = max(g.most, g.now)
}

// Decoded bodies are within the bound, and one more for each open file. No bound is too small.
func TestDecodedBodiesAreBounded(t *testing.T) {
	archive := coded(t, 12)
	for _, c := range []struct {
		bound       int64
		least, most int
	}{{1, 1, 2}, {3*bodyBytes + bodyBytes/4, 3, 5}, {64 * bodyBytes, 16, 16}} {
		synctest.Test(t, func(t *testing.T) {
			var parsing gauge
			o := options(archive, archived.Folder(t)).withDefaults()
			o.Workers, o.InFlight = 16, c.bound
			r := &run{
				Options: o, workers: make(chan struct{}, o.Workers), flight: newFlight(o.InFlight), responses: newRestorer(),
				parsers: map[string]*parser{}, report: Report{Outcomes: map[Outcome]int64{}},
			}
			p, err := r.parser(definition)
			if err != nil {
				t.Fatal(err)
			}
			transform := p.transform
			p.transform = func(record *kgo.Record) ([]stage.Output, string) {
				parsing.pass()
				return transform(record)
			}
			key, err := json.Marshal(definition)
			if err != nil || r.parsers[string(key)] != p {
				t.Fatal("the parser has another key", err)
			}
			var files sync.WaitGroup
			for file := range 2 {
				files.Go(func() {
					if err := r.file(t.Context(), fmt.Sprintf("c-0f-0000%d-000.warc.gz", file)); err != nil {
						t.Error(err)
					}
				})
			}
			files.Wait()
			if parsing.most < c.least || parsing.most > c.most || r.report.Outcomes[Page] != 24 {
				t.Errorf("a bound of %d: %d bodies at a time, want %d to %d; %v", c.bound, parsing.most, c.least, c.most, r.report.Outcomes)
			}
			if !r.flight.free.TryAcquire(o.InFlight) {
				t.Error("room was not given back")
			}
		})
	}
}

// slow is a bucket whose puts of bodies take a second.
type slow struct {
	blob.Bucket
	puts gauge
}

func (s *slow) PutNew(ctx context.Context, key string, content io.Reader, size int64) error {
	if strings.HasPrefix(key, "bodies/") {
		s.puts.pass()
	}
	return s.Bucket.PutNew(ctx, key, content, size)
}

// Objects that are on their way to the bucket are within the bound, too.
func TestObjectsAreBounded(t *testing.T) {
	archive := coded(t, 12)
	for bound, most := range map[int64]int{1: 2, 3*bodyBytes + bodyBytes/4: 5} {
		synctest.Test(t, func(t *testing.T) {
			o := as(Options{Format: Objects}, options(archive, nil))
			to := &slow{Bucket: archived.Folder(t)}
			o.Generation, o.Workers, o.InFlight = to, 4, bound
			if r := run1(t, o); r.Outcomes[Page] != 24 || to.puts.most > most {
				t.Errorf("a bound of %d: %d bodies at a time, want %d: %v", bound, to.puts.most, most, r.Outcomes)
			}
		})
	}
}

// Only objects keep the exchange of a page.
func TestExchangesThatAreKept(t *testing.T) {
	archive := coded(t, 1)
	for _, f := range formats {
		r := &run{Options: as(f, options(archive, nil)).withDefaults(), parsers: map[string]*parser{}, responses: newRestorer()}
		p, err := r.parser(definition)
		if err != nil {
			t.Fatal(err)
		}
		s, err := openSource(t.Context(), archive, "c-0f-00000-000.warc.gz")
		if err != nil {
			t.Fatal(err)
		}
		index, err := s.index(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for one, err := range s.responses(t.Context(), index) {
			if err != nil {
				t.Fatal(err)
			}
			seat, err := newFlight(64<<20).enter(t.Context(), len(one.payload))
			if err != nil {
				t.Fatal(err)
			}
			done := r.parse(t.Context(), s, p, one, seat)
			if kept := len(done.fetched) > 0; kept != (f.Format == Objects) || done.outcome != Page {
				t.Errorf("%s: it keeps %d bytes of the exchange; %s", f.Format, len(done.fetched), done.outcome)
			}
			if want := int64(len(one.payload) + len(done.line) + len(done.fetched)); seat.bytes > want {
				t.Errorf("%s: it has room for %d bytes, want at most %d", f.Format, seat.bytes, want)
			}
		}
	}
}

// A response that waits for room ends with the run.
func TestWaitingEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlight(10)
		one, err1 := f.enter(t.Context(), 8)
		two, err2 := f.enter(t.Context(), 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- two.grow(ctx, 5) }()
		synctest.Wait()
		end()
		if err := <-done; err == nil || two.beyond {
			t.Error(err)
		}
		go func() { done <- two.grow(t.Context(), 5) }()
		synctest.Wait()
		one.leave()
		if err := <-done; err != nil || two.beyond || two.bytes != 6 {
			t.Error(err, two.bytes)
		}
		one.leave() // once more
		two.leave()
		if !f.free.TryAcquire(10) {
			t.Error("room was not given back")
		}
	})
}
