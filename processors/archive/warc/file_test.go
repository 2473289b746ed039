package warc

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gowarc "github.com/internetarchive/gowarc"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/webserver"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exchange number n, with everything that a response may carry.
func exchange(n int, body string) *weftpb.Fetched {
	return &weftpb.Fetched{
		Id:      fmt.Sprintf("page-%d", n),
		Request: &weftpb.Request{Target: &weftpb.Target{Url: fmt.Sprintf("http://example.com/dir/%d?q=a%%20b", n)}},
		Outcome: &weftpb.Outcome{Status: 200, StartedMs: 1_790_000_000_123 + int64(n), BodyBytes: int64(len(body))},
		Proto:   "HTTP/1.1",
		RequestHeaders: []*weftpb.Header{
			{Name: "User-Agent", Value: "weft/1"}, {Name: "Accept-Encoding", Value: "gzip"},
		},
		Headers: []*weftpb.Header{
			{Name: "Content-Type", Value: "text/html"}, {Name: "Content-Encoding", Value: "gzip"},
			{Name: "Content-Length", Value: "7"}, {Name: "Transfer-Encoding", Value: "chunked"},
			{Name: "Set-Cookie", Value: "a=1"}, {Name: "Set-Cookie", Value: "b=2"},
		},
		Body:   []byte(body),
		Remote: "[2001:db8::1]:443",
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write returns a whole file with these exchanges, and its entries.
func write(t testing.TB, o Options, all ...*weftpb.Fetched) (file []byte, index []Line) {
	t.Helper()
	var body bytes.Buffer
	p, err := NewPacker(o)
	must(t, err)
	f := NewFile(&body, scratch(t), p)
	for n, x := range all {
		must(t, f.Add(x, codecs.ParsedArchived{Partition: 3, Offset: int64(n)}))
	}
	if int64(body.Len()) != f.Size() {
		t.Fatalf("%d bytes, and the file says %d", body.Len(), f.Size())
	}
	head := head(int64(len(all)))
	head.Name += o.Compression.Extension()
	first := head.Member(o.Compression)
	sorted, err := f.Index(head.Name, int64(len(first)))
	must(t, err)
	cdxj, err := io.ReadAll(sorted)
	must(t, err)
	index = slices.Collect(AllLines(cdxj))
	slices.SortStableFunc(index, func(a, b Line) int { return int(a.Offset - b.Offset) })
	return append(first, body.Bytes()...), index
}

func scratch(t testing.TB) Scratch {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "scratch"))
	must(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

func head(next int64) Head {
	return Head{
		Name: "weft-00000-7", Date: time.Date(2026, 11, 1, 12, 30, 5, 0, time.UTC), First: 7, Next: 7 + next, Sum: "0a-1",
		Info: []Field{{"software", "weft"}},
	}
}

// stored writes a file to the disk, for readers that take a name.
func stored(t testing.TB, file []byte, extension string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "a"+extension)
	must(t, os.WriteFile(name, file, 0o600))
	return name
}

// read lists the records of files with gowarc: type, target URI and block.
type read struct{ kind, url, block string }

func readAll(t testing.TB, files ...[]byte) []read {
	t.Helper()
	var records []read
	for _, file := range files {
		f, err := os.Open(stored(t, file, ".warc.gz"))
		must(t, err)
		defer f.Close()
		r, err := gowarc.NewReader(f)
		must(t, err)
		for {
			rec, err := r.ReadRecord()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			block, err := io.ReadAll(rec.Content)
			must(t, err)
			must(t, rec.Content.Close())
			_, payload := Record{Block: block}.Message()
			if want := digest(payload); len(payload) > 0 && rec.Header.Get("WARC-Type") == "response" {
				if rec.Header.Get("WARC-Payload-Digest") != want {
					t.Fatalf("payload digest %s, want %s", rec.Header.Get("WARC-Payload-Digest"), want)
				}
			} else if want := digest(block); rec.Header.Get("WARC-Block-Digest") != want {
				t.Fatalf("block digest %s, want %s", rec.Header.Get("WARC-Block-Digest"), want)
			}
			records = append(records, read{rec.Header.Get("WARC-Type"), rec.Header.Get("WARC-Target-URI"), string(block)})
		}
	}
	return records
}

// plain is the text of a file.
func plain(t testing.TB, file []byte, c Compression) string {
	t.Helper()
	var in io.Reader
	var err error
	if c == Zstd {
		var d *zstd.Decoder
		d, err = zstd.NewReader(bytes.NewReader(file))
		must(t, err)
		defer d.Close()
		in = d
	} else {
		in, err = gzip.NewReader(bytes.NewReader(file))
	}
	must(t, err)
	text, err := io.ReadAll(in)
	must(t, err)
	return string(text)
}

// all has every kind of record.
func all() []*weftpb.Fetched {
	h2 := exchange(2, "cut of")
	h2.Proto, h2.Outcome.Truncated, h2.Outcome.Status = "HTTP/2.0", true, 404
	h2.Headers = []*weftpb.Header{{Name: "Content-Length", Value: "6"}, {Name: "X-Odd", Value: "two\r\nlines"}}
	h2.RequestHeaders = []*weftpb.Header{{Name: "Host", Value: "example.com"}}
	bare := exchange(3, "")
	bare.Remote, bare.Headers, bare.Outcome.Status = "", nil, 204
	failed := exchange(4, "")
	failed.Outcome.Status, failed.Outcome.ErrorClass, failed.Outcome.Error = 0, "timeout", "no answer\r\nin time"
	coded := exchange(5, "decoded as well")
	coded.CodedBody = []byte("(gzip)")
	coded.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
	unchanged := exchange(7, "")
	unchanged.Outcome.Status, unchanged.Headers = 304, nil
	unwanted := exchange(9, "")
	unwanted.Outcome.ErrorClass = "unwanted_type"
	unwanted.Headers = []*weftpb.Header{{Name: "Content-Type", Value: "image/png"}, {Name: "Content-Length", Value: "41638"}}
	return []*weftpb.Fetched{
		exchange(1, "<p>decoded</p>"), h2, bare, failed, coded, exchange(6, "<p>decoded</p>"), unchanged, unwanted,
		{Robots: exchange(8, "User-agent: *\n")},
	}
}

// The text of a file with every kind of record is the same in both formats.
func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "golden.warc")
	for _, c := range []Compression{Gzip, Zstd} {
		file, _ := write(t, Options{Compression: c}, all()...)
		got := strings.ReplaceAll(plain(t, file, c), c.Extension(), ".warc")
		if *update {
			must(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		// The names of the files differ in length, and so in their records' ids.
		id := strings.Index(got, "WARC-Date")
		if diff := cmp.Diff(string(want)[strings.Index(string(want), "WARC-Date"):], got[id:]); diff != "" {
			t.Errorf("testdata/golden.warc differs from %s (-want +got):\n%s", c, diff)
		}
	}
}

// Two files of the same exchanges are the same bytes, whatever their ends are.
func TestRepeatIsTheSame(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		long, _ := write(t, Options{Compression: c}, all()...)
		again, _ := write(t, Options{Compression: c}, all()...)
		short, _ := write(t, Options{Compression: c}, all()[:5]...)
		first := head(0)
		first.Name += c.Extension()
		rest := len(first.Member(c))
		if !bytes.Equal(long, again) || !bytes.HasPrefix(long[rest:], short[rest:]) {
			t.Errorf("%s: a repeat differs", c)
		}
	}
}

// The index leads to each response, and a member can be read alone.
func TestIndexFindsMembers(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		file, index := write(t, Options{Compression: c}, all()...)
		if len(index) != 8 {
			t.Fatalf("%d entries", len(index))
		}
		for _, l := range index {
			text := plain(t, file[l.Offset:l.Offset+l.Length], c)
			if strings.Count(text, "WARC/1.1\r\n") != 1 || !strings.Contains(text, "WARC-Target-URI: "+l.URL+"\r\n") ||
				!strings.Contains(text, "msgtype=response") || !strings.Contains(text, " "+l.Status) {
				t.Errorf("%s: %+v leads to\n%s", c, l, text)
			}
		}
		h, ok := ReadHead(file[:min(len(file), HeadBytes)])
		if want := head(9); !ok || h.First != want.First || h.Next != want.Next || h.Sum != want.Sum || h.Name != want.Name+c.Extension() {
			t.Errorf("%s: head %+v, %v", c, h, ok)
		}
	}
}

func TestReadHeadOfOthers(t *testing.T) {
	for _, text := range []string{"", "WARC/1.1\r\n", firstField + ": 5\r\n" + nextField + ": 5\r\n" + sumField + ": a\r\n", nextField + ": 9\r\n"} {
		if h, ok := ReadHead([]byte(text)); ok {
			t.Errorf("%q is taken for %+v", text, h)
		}
	}
}

func TestReadByGowarc(t *testing.T) {
	file, _ := write(t, Options{}, exchange(1, "one"), exchange(2, strings.Repeat("two", 1e5)), exchange(3, "one"))
	got := readAll(t, file)
	var kinds []string
	for _, r := range got {
		kinds = append(kinds, r.kind)
	}
	if want := []string{"warcinfo", "response", "request", "response", "request", "revisit", "request"}; !slices.Equal(kinds, want) {
		t.Fatalf("records %q, want %q", kinds, want)
	}
	if !strings.HasSuffix(got[3].block, "\r\n\r\n"+strings.Repeat("two", 1e5)) || got[3].url != "http://example.com/dir/2?q=a%20b" {
		t.Errorf("second response: %s, %d bytes", got[3].url, len(got[3].block))
	}
}

// warcio is the reader most archives rely on; it verifies the digests.
func TestReadByWarcio(t *testing.T) {
	python := child.Program(t, "warc-readers/bin/python")
	gz := exchange(2, "not looked at")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("as it came"))
	must(t, errors.Join(err, w.Close()))
	gz.CodedBody = packed.Bytes()
	file, _ := write(t, Options{}, append([]*weftpb.Fetched{exchange(1, "<p>decoded ü</p>"), gz}, all()...)...)
	out, err := exec.Command(python, "testdata/read.py", stored(t, file, ".warc.gz")).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type line struct {
		Type, URL, Version, Status string
		Headers                    map[string]string
		Body                       []byte
	}
	var got []line
	for s := range strings.Lines(string(out)) {
		var l line
		must(t, json.Unmarshal([]byte(s), &l))
		got = append(got, l)
	}
	if len(got) != 1+2*10+1 {
		t.Fatalf("%d records:\n%s", len(got), out)
	}
	r := got[1]
	if r.Type != "response" || r.Version != "WARC/1.1" || r.Status != "200 OK" || string(r.Body) != "<p>decoded ü</p>" ||
		r.Headers["X-Weft-Orig-Content-Encoding"] != "gzip" || r.Headers["Content-Length"] != "17" {
		t.Errorf("response %+v", r)
	}
	if q := got[2]; q.Type != "request" || q.Headers["User-Agent"] != "weft/1" || q.Headers["Host"] != "example.com" {
		t.Errorf("request %+v", q)
	}
	if c := got[3]; string(c.Body) != "as it came" || c.Headers["Content-Encoding"] != "gzip" {
		t.Errorf("response with its coding: %+v", c)
	}
}

func TestRecordIDs(t *testing.T) {
	a := exchange(1, "x")
	later := exchange(1, "x")
	later.Outcome.StartedMs++
	ids := []string{recordID(a, "response"), recordID(a, "request"), recordID(later, "response"), recordID(exchange(2, "x"), "response")}
	if recordID(exchange(1, "y"), "response") != ids[0] {
		t.Error("the same exchange has two ids")
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 4 {
		t.Errorf("ids are not distinct: %q", ids)
	}
}

func TestValidate(t *testing.T) {
	for name, o := range map[string]Options{
		"compression": {Compression: "lz4"},
		"level":       {Level: 10},
		"zstd":        {Compression: Zstd, Level: 5},
	} {
		if o.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Pages like real documentation, one after another.
func BenchmarkAdd(b *testing.B) {
	web, err := webserver.NewGenerated(webserver.Options{Pages: 500, Domains: 1})
	must(b, err)
	var exchanges []*weftpb.Fetched
	for domain, path := range web.Pages() {
		exchanges = append(exchanges, exchange(len(exchanges), string(web.Answer(domain, 80, path, nil).Body)))
	}
	for _, o := range []Options{{Level: 1}, {Level: 4}, {Level: 6}, {Compression: Zstd, Level: 1}, {Compression: Zstd, Level: 2}, {Compression: Zstd, Level: 3}} {
		b.Run(fmt.Sprint(o.withDefaults().Compression, " ", o.Level), func(b *testing.B) {
			p, err := NewPacker(o)
			must(b, err)
			f := NewFile(io.Discard, scratch(b), p)
			b.ReportAllocs()
			total := 0
			for i := 0; b.Loop(); i++ {
				x := exchanges[i%len(exchanges)]
				total += len(x.GetBody())
				clear(f.payloads) // the pages come again
				must(b, f.Add(x, codecs.ParsedArchived{}))
			}
			b.ReportMetric(float64(total)/1e6/b.Elapsed().Seconds(), "MB/s")
			b.ReportMetric(float64(total)/float64(f.Size()), "ratio")
		})
	}
}
