// Package archived makes the files of an archive for tests, without a crawl.
package archived

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// Began is the date of the files.
var Began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Exchange is the exchange of a page of HTML.
func Exchange(url, body string, at time.Time) *weftpb.Fetched {
	return &weftpb.Fetched{
		Id: "id of " + url, Request: &weftpb.Request{Target: &weftpb.Target{Url: url}},
		Outcome: &weftpb.Outcome{Status: 200, StartedMs: at.UnixMilli()}, Proto: "HTTP/1.1",
		ResponseHead: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"), Body: []byte(body),
		Headers: []*weftpb.Header{{Name: "Content-Type", Value: "text/html; charset=utf-8"}},
	}
}

// Put puts a file with its index into a bucket. info are further fields of its head.
func Put(t testing.TB, b blob.Bucket, c warc.Compression, stem string, info []warc.Field, all ...*weftpb.Fetched) {
	t.Helper()
	var body bytes.Buffer
	scratch, err := os.Create(filepath.Join(t.TempDir(), "scratch"))
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	p, err := warc.NewPacker(warc.Options{Compression: c})
	f := warc.NewFile(&body, scratch, p)
	for n, x := range all {
		err = errors.Join(err, f.Add(x, codecs.ParsedArchived{Partition: 3, Offset: int64(n)}))
	}
	if err != nil {
		t.Fatal(err)
	}
	head := warc.Head{Name: stem + c.Extension(), Next: int64(len(all)), Sum: "x", Date: Began, Oldest: f.Oldest(), Info: info}
	member := string(head.Member(c))
	PutText(t, b, head.Name, member+body.String())
	index, err := f.Index(head.Name, int64(len(member)))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), archive.IndexName(head), index, index.Size()); err != nil {
		t.Fatal(err)
	}
}

// PutText puts an object into a bucket.
func PutText(t testing.TB, b blob.Bucket, key, text string) {
	t.Helper()
	if err := b.Put(t.Context(), key, strings.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
}

// Folder is an empty bucket.
func Folder(t testing.TB) blob.Bucket {
	t.Helper()
	b, err := blob.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// In is a part of a bucket: location is that of the bucket, with its parameters.
func In(t testing.TB, location, prefix string) blob.Bucket {
	t.Helper()
	bucket, parameters, _ := strings.Cut(location, "?")
	b, err := blob.Open(t.Context(), bucket+"/"+prefix+"?"+parameters)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// PutMetadata puts a file of metadata into a bucket: the pages of some URLs, with what parsed says.
func PutMetadata(t testing.TB, b blob.Bucket, c warc.Compression, stem string, all ...warc.Metadata) {
	t.Helper()
	var body bytes.Buffer
	p, err := warc.NewPacker(warc.Options{Compression: c})
	f := warc.NewFile(&body, nil, p)
	for _, m := range all {
		err = errors.Join(err, f.AddMetadata(m))
	}
	if err != nil {
		t.Fatal(err)
	}
	head := warc.Head{Name: stem + ".meta" + c.Extension(), Next: int64(len(all)), Sum: "x", Date: Began, Oldest: f.Oldest()}
	PutText(t, b, head.Name, string(head.Member(c))+body.String())
}
