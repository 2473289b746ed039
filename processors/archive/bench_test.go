package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// BenchmarkArchive measures what the stage adds to a page: from its records in fetched and in
// parsed to its files in a folder, in µs of CPU of all threads. Pages are as long as documentation. They
// came plain, or coded with gzip as most servers send them.
func BenchmarkArchive(b *testing.B) {
	for _, o := range []warc.Options{{Compression: warc.Gzip}, {Compression: warc.Zstd}} {
		for _, coded := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s coded=%v", o.Compression, coded), func(b *testing.B) {
				pages, total := generated(b, coded)
				benchmarkRecords(b, o, pages)
				b.ReportMetric(float64(total)/float64(len(pages)), "body/page")
			})
		}
		b.Run(fmt.Sprintf("%s metadata", o.Compression), func(b *testing.B) { benchmarkRecords(b, o, metadata()) })
	}
}

// pagesOfFile is the number of pages in a file: enough to spread the cost of a file, which has 100,000 pages and
// more in a crawl.
const pagesOfFile = 10_000

func benchmarkRecords(b *testing.B, o warc.Options, records []*kgo.Record) {
	bucket, err := blob.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	a, err := newArchiver(stage.Env{Names: topics.Loop("bench"), Dir: b.TempDir()}, Options{Bucket: bucket, WARC: o}.withDefaults())
	if err != nil {
		b.Fatal(err)
	}
	serials := make([][]byte, len(records))
	for i, r := range records {
		if at := bytes.LastIndex(r.Value, []byte(serial)); at >= 0 {
			serials[i] = r.Value[at+len(serial):]
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	began, total := spent(), int64(0)
	for n := 0; n < b.N; n += pagesOfFile {
		total += fileOf(b, a, records, serials, n, min(n+pagesOfFile, b.N))
	}
	b.ReportMetric(float64((spent()-began).Microseconds())/float64(b.N), "cpu-µs/page")
	b.ReportMetric(float64(total)/float64(b.N), "bytes/page")
}

// metadata are the records in parsed of 500 pages. Each has 28 links, so that its metadata has 3.3 kB, the
// mean of documentation.
func metadata() (records []*kgo.Record) {
	for n := range 500 {
		p := pageOf(n)
		p.Text = strings.Repeat("words of a text ", 500)
		for i := range 28 {
			to := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, n, i/2)))
			p.Links = append(p.Links, codecs.ParsedLink{URL: "https://docs.example.org/3/" + to[:12] + ".html", Text: "Chapter " + to[12:24], Kind: "a"})
		}
		records = append(records, &kgo.Record{Topic: topics.Loop("bench").Parsed, Value: p.AppendJSON(nil)})
	}
	return records
}

// spent is the CPU time of all threads of the process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serial is the text in a body before four bytes that fileOf changes.
const serial = "serial number "

// generated are the records of 500 pages, and the length of all bodies.
func generated(b *testing.B, coded bool) (records []*kgo.Record, total int) {
	web, err := webserver.NewGenerated(webserver.Options{Pages: 500, Domains: 1})
	if err != nil {
		b.Fatal(err)
	}
	for domain, path := range web.Pages() {
		body := web.Answer(domain, 80, path, nil).Body
		x := exchange(len(records))
		x.Body = body
		if !coded {
			x.Body = append(body, serial+"0000"...)
		}
		x.RequestHead = []byte("GET " + path + " HTTP/1.1\r\nHost: k.example\r\nUser-Agent: weft/1\r\nAccept: text/html,*/*;q=0.5\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n")
		head := "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Tue, 24 Nov 2026 10:00:00 GMT\r\nContent-Type: text/html; charset=utf-8\r\nLast-Modified: Mon, 23 Nov 2026 10:00:00 GMT\r\nETag: \"65a-5f\"\r\nVary: Accept-Encoding\r\nTransfer-Encoding: chunked\r\n"
		if coded {
			var packed bytes.Buffer
			gz := gzip.NewWriter(&packed)
			gz.Extra = []byte(serial + "0000")
			_, _ = gz.Write(body)
			_ = gz.Close()
			x.CodedBody = packed.Bytes()
			head += "Content-Encoding: gzip\r\n"
		}
		x.ResponseHead = []byte(head + "\r\n")
		x.Headers = []*weftpb.Header{{Name: "Content-Type", Value: "text/html; charset=utf-8"}, {Name: "Server", Value: "nginx"}, {Name: "Etag", Value: `"65a-5f"`}}
		total += len(body)
		value, err := proto.Marshal(x)
		if err != nil {
			b.Fatal(err)
		}
		records = append(records, &kgo.Record{Value: value})
	}
	return records, total
}

// fileOf archives records, over and over, as one file that has the offsets from first to next. Where a record has a
// serial number, it is set, so that bodies in the file differ.
func fileOf(b *testing.B, a *archiver, records []*kgo.Record, serials [][]byte, first, next int) int64 {
	r := *records[0]
	r.Offset = int64(first)
	head, _, err := a.files.find(b.Context(), source{topic: r.Topic}, &r)
	if err != nil {
		b.Fatal(err)
	}
	d, err := newDraft(head, a.packer, a.env.Dir)
	if err != nil {
		b.Fatal(err)
	}
	defer d.close()
	for offset := first; offset < next; offset++ {
		r := records[offset%len(records)]
		if serials[offset%len(records)] != nil {
			binary.BigEndian.PutUint32(serials[offset%len(records)], uint32(offset))
		}
		if err := a.add(b.Context(), d, r); err != nil {
			b.Fatal(err)
		}
	}
	d.head.Next = int64(next)
	if _, err := a.files.publish(b.Context(), d); err != nil {
		b.Fatal(err)
	}
	return d.warc.Size()
}
