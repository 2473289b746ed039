package kept

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

const day = 24 * time.Hour

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func exchange(url, body string, at time.Time) *weftpb.Fetched {
	return &weftpb.Fetched{
		Id: url, Request: &weftpb.Request{Target: &weftpb.Target{Url: url}},
		Outcome: &weftpb.Outcome{Status: 200, StartedMs: at.UnixMilli()}, Proto: "HTTP/1.1",
		ResponseHead: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), Body: []byte(body),
	}
}

// keep puts a file with its index into a bucket.
func keep(t *testing.T, b blob.Bucket, c warc.Compression, stem string, all ...*weftpb.Fetched) {
	t.Helper()
	var body bytes.Buffer
	p, err := warc.NewPacker(warc.Options{Compression: c})
	f := warc.NewFile(&body, p)
	for _, x := range all {
		err = errors.Join(err, f.Add(x, codecs.ParsedArchived{}))
	}
	name := stem + c.Extension()
	head := warc.Head{Name: name, Next: int64(len(all)), Sum: "x", Date: began}.Member(c)
	index := warc.CDXJ(f.Index(), name, int64(len(head)))
	file := append(head, body.Bytes()...)
	err = errors.Join(err, b.Put(t.Context(), name, bytes.NewReader(file), int64(len(file))),
		b.Put(t.Context(), stem+".1.cdxj", bytes.NewReader(index), int64(len(index))))
	if err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	b, err := blob.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	url := func(n int) string { return fmt.Sprintf("http://a.example/%04d", n) }
	var many []*weftpb.Fetched // an index that is searched in several steps
	for n := range 1500 {
		many = append(many, exchange(url(n), fmt.Sprint("page ", n), began))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write([]byte("as it was coded"))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	coded := exchange("http://a.example/coded", "", began)
	coded.CodedBody, coded.ResponseHead = packed.Bytes(), []byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
	unchanged := exchange(url(3), "", began.Add(9*day))
	unchanged.Outcome.Status, unchanged.ResponseHead = 304, []byte("HTTP/1.1 304 Not Modified\r\n\r\n")
	keep(t, b, warc.Gzip, "c-1", append(many, coded, exchange("http://a.example/copy", "page 7", began))...)
	keep(t, b, warc.Zstd, "c-2", exchange(url(3), "later", began.Add(2*day)), exchange("http://www.a.example/www", "w", began), unchanged)

	for _, c := range []struct {
		url  string
		at   time.Time
		want string
	}{
		{url(0), began, "page 0"}, {url(777), began, "page 777"}, {url(1499), began, "page 1499"},
		{url(3), began, "page 3"}, {url(3), began.Add(99 * day), "later"}, {url(3), began.Add(day - time.Minute), "page 3"},
		{url(3), began.Add(day + time.Minute), "later"},
		{"http://a.example/copy", began, "page 7"}, {"http://a.example/coded", began, "as it was coded"},
		{"https://a.example/www", began, "w"},
	} {
		x, err := Find(t.Context(), b, c.url, c.at)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if body, err := x.Body(t.Context()); err != nil || string(body) != c.want || x.Status != 200 || !strings.HasPrefix(string(x.Head), "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%s at %v: %q, %v, %+v", c.url, c.at, body, err, x)
		}
	}
	for _, none := range []string{"http://a.example/07", "http://a.example/zzz", "http://0.example/", "http://b.example/0001"} {
		if x, err := Find(t.Context(), b, none, began); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %+v, %v", none, x, err)
		}
	}
}
