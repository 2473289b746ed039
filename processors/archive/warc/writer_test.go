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
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
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

func options(dir string) Options {
	return Options{
		Dir: dir, Host: "host.example", Info: []Field{{"software", "weft"}},
		Now: func() time.Time { return time.Date(2026, 11, 1, 12, 30, 5, 0, time.UTC) },
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, o Options) *Writer {
	t.Helper()
	w, err := Open(o)
	must(t, err)
	return w
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	return names
}

// kill drops the writer as the end of its process would.
func kill(w *Writer) {
	if w.file != nil {
		w.file.Close()
	}
}

// read lists the records of files with gowarc: type, target URI and block.
type read struct{ kind, url, block string }

func readAll(t testing.TB, names []string) []read {
	t.Helper()
	var records []read
	for _, name := range names {
		f, err := os.Open(name)
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
			if want := digest(block); rec.Header.Get("WARC-Block-Digest") != want {
				t.Fatalf("block digest %s, want %s", rec.Header.Get("WARC-Block-Digest"), want)
			}
			records = append(records, read{rec.Header.Get("WARC-Type"), rec.Header.Get("WARC-Target-URI"), string(block)})
		}
	}
	return records
}

// The uncompressed bytes of one file with every kind of record.
func TestGolden(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir))
	must(t, w.Write(exchange(1, "<p>decoded</p>")))
	h2 := exchange(2, "cut of")
	h2.Proto, h2.Outcome.Truncated, h2.Outcome.Status = "HTTP/2.0", true, 404
	h2.Headers = []*weftpb.Header{{Name: "Content-Length", Value: "6"}, {Name: "X-Odd", Value: "two\r\nlines"}}
	h2.RequestHeaders = []*weftpb.Header{{Name: "Host", Value: "example.com"}}
	must(t, w.Write(h2))
	bare := exchange(3, "")
	bare.Remote, bare.Headers, bare.Outcome.Status = "", nil, 204
	must(t, w.Write(bare))
	failed := exchange(4, "")
	failed.Outcome.Status = 0
	must(t, w.Write(failed))
	must(t, w.Close())

	names := files(t, dir)
	if len(names) != 1 || filepath.Base(names[0]) != "WEFT-20261101123005-00001-host.example.warc.gz" {
		t.Fatalf("files %q", names)
	}
	b, err := os.ReadFile(names[0])
	must(t, err)
	gz, err := gzip.NewReader(bytes.NewReader(b))
	must(t, err)
	got, err := io.ReadAll(gz)
	must(t, err)
	golden := filepath.Join("testdata", "golden.warc")
	if *update {
		must(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("testdata/golden.warc differs (-want +got):\n%s", diff)
	}
}

func TestReadByGowarc(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir))
	must(t, w.Write(exchange(1, "one")))
	must(t, w.Write(exchange(2, strings.Repeat("two", 1e5))))
	must(t, w.Close())
	got := readAll(t, files(t, dir))
	var kinds []string
	for _, r := range got {
		kinds = append(kinds, r.kind)
	}
	if want := []string{"warcinfo", "response", "request", "response", "request"}; !slices.Equal(kinds, want) {
		t.Fatalf("records %q, want %q", kinds, want)
	}
	if !strings.HasSuffix(got[3].block, "\r\n\r\n"+strings.Repeat("two", 1e5)) || got[3].url != "http://example.com/dir/2?q=a%20b" {
		t.Errorf("second response: %s, %d bytes", got[3].url, len(got[3].block))
	}
}

// warcio is the reader most archives rely on; it verifies the digests.
func TestReadByWarcio(t *testing.T) {
	if exec.Command("python3", "-c", "import warcio").Run() != nil {
		t.Skip("python3 with the package warcio is not installed")
	}
	dir := t.TempDir()
	w := open(t, options(dir))
	must(t, w.Write(exchange(1, "<p>decoded ü</p>")))
	must(t, w.Close())
	out, err := exec.Command("python3", append([]string{"testdata/read.py"}, files(t, dir)...)...).Output()
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
	if len(got) != 3 {
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
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	o := options(dir)
	o.MaxBytes = 1
	w := open(t, o)
	for n := range 3 {
		must(t, w.Write(exchange(n, "x")))
	}
	must(t, w.Close())
	w = open(t, o)
	must(t, w.Write(exchange(3, "x")))
	must(t, w.Close())
	names := files(t, dir)
	if len(names) != 4 || !strings.Contains(names[3], "-00004-") {
		t.Fatalf("files %q", names)
	}
	for n, name := range names {
		records := readAll(t, []string{name})
		if len(records) != 3 || records[0].kind != "warcinfo" || records[1].url != fmt.Sprintf("http://example.com/dir/%d?q=a%%20b", n) {
			t.Errorf("%s: %v", name, records)
		}
	}
}

func TestNothingWritten(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir))
	must(t, w.Flush())
	must(t, w.Close())
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("files %q", names)
	}
	if err := w.Write(exchange(1, "x")); err == nil {
		t.Error("write after close was accepted")
	}
}

// Wherever an open file is cut or garbled at its end, the records that lie
// before it survive, the rest is gone, and the writer goes on.
func TestTornTail(t *testing.T) {
	source := t.TempDir()
	w := open(t, options(source))
	for n := range 4 {
		must(t, w.Write(exchange(n, strings.Repeat(fmt.Sprint(n), 1000))))
	}
	must(t, w.Close())
	whole, err := os.ReadFile(files(t, source)[0])
	must(t, err)
	name := filepath.Base(files(t, source)[0]) + openSuffix
	all := readAll(t, files(t, source))
	ends := memberEnds(t, whole)

	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "warc-")
		must(t, err)
		defer os.RemoveAll(dir)
		cut := rapid.IntRange(0, len(whole)).Draw(r, "cut")
		torn := slices.Clone(whole[:cut])
		if rapid.Bool().Draw(r, "zeros") { // blocks that were allocated and not written
			torn = append(torn, make([]byte, 100)...)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), torn, 0o644))
		w := open(t, options(dir))
		must(t, w.Write(exchange(9, "later")))
		must(t, w.Close())
		survivors := 0
		for survivors < len(ends) && bytes.HasPrefix(torn, whole[:ends[survivors]]) { // zeros may complete a length that ends in some
			survivors++
		}
		got := readAll(t, files(t, dir))
		if len(got) != survivors+3 || !slices.Equal(got[:survivors], all[:survivors]) || got[survivors+1].url != "http://example.com/dir/9?q=a%20b" {
			r.Fatalf("cut at %d of %d: %d records, want %d and 3 new ones", cut, len(whole), len(got), survivors)
		}
	})
}

// memberEnds finds the members by their header, which deflated data of this
// size does not contain by chance.
func memberEnds(t *testing.T, b []byte) []int {
	t.Helper()
	var ends []int
	for i := 1; i < len(b); i++ {
		if bytes.HasPrefix(b[i:], []byte{0x1f, 0x8b, 8}) {
			ends = append(ends, i)
		}
	}
	ends = append(ends, len(b))
	if len(ends) != 9 {
		t.Fatalf("%d members, want 9", len(ends))
	}
	return ends
}

// What Flush has returned for survives the kill; what came later may not.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir))
	must(t, w.Write(exchange(1, "flushed")))
	must(t, w.Flush())
	must(t, w.Write(exchange(2, "buffered")))
	kill(w)
	if names := files(t, dir); len(names) != 1 || !strings.HasSuffix(names[0], openSuffix) {
		t.Fatalf("files %q", names)
	}
	w = open(t, options(dir))
	must(t, w.Write(exchange(1, "flushed")))
	must(t, w.Close())
	got := readAll(t, files(t, dir))
	if len(got) != 6 || got[1] != got[4] {
		t.Errorf("records %v", got)
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
		"no directory": {},
		"prefix":       {Dir: "a", Prefix: "a-b"},
		"host":         {Dir: "a", Host: "../x"},
		"size":         {Dir: "a", MaxBytes: -1},
		"level":        {Dir: "a", Level: 10},
	} {
		if o.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Pages like real documentation, one after another.
func BenchmarkWrite(b *testing.B) {
	web, err := webserver.NewGenerated(webserver.Options{Pages: 500, Domains: 1})
	must(b, err)
	var exchanges []*weftpb.Fetched
	for domain, path := range web.Pages() {
		exchanges = append(exchanges, exchange(len(exchanges), string(web.Answer(domain, 80, path, nil).Body)))
	}
	for _, level := range []int{1, 4, 6} {
		b.Run(fmt.Sprint("level ", level), func(b *testing.B) {
			o := options(b.TempDir())
			o.Level = level
			w := open(b, o)
			b.ReportAllocs()
			total := 0
			for i := 0; b.Loop(); i++ {
				f := exchanges[i%len(exchanges)]
				total += len(f.GetBody())
				must(b, w.Write(f))
			}
			must(b, w.Flush())
			b.ReportMetric(float64(total)/1e6/b.Elapsed().Seconds(), "MB/s")
			b.ReportMetric(float64(total)/float64(w.written), "ratio")
			must(b, w.Close())
		})
	}
}
