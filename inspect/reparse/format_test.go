package reparse

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
	"github.com/weftcrawl/weft/test/child"
)

// formats are the formats and partitions of a generation.
var formats = []Options{
	{Format: JSONLines}, {Format: WET}, {Format: WAT, Compression: Zstd}, {Format: Parquet},
	{Format: JSONLines, Compression: Zstd, Partition: ByDomain}, {Format: Parquet, Partition: ByDayAndDomain}, {Format: Objects},
}

// as gives options the format and partition of others.
func as(f, o Options) Options {
	o.Format, o.Compression, o.Partition = f.Format, f.Compression, f.Partition
	return o
}

const french = "Le chat est assis sur le tapis, et il regarde par la fenêtre les oiseaux qui volent dans le ciel bleu de l'après-midi."

// sample makes an archive of pages of two days and two domains.
func sample(t *testing.T) blob.Bucket {
	t.Helper()
	b := archived.Folder(t)
	later := func(x *weftpb.Fetched) { x.Outcome.StartedMs += (13 * time.Hour).Milliseconds() }
	keep(t, b, warc.Gzip, "c-0f-00003-000",
		with(pageOf("http://www.a.example/", `<html lang=fr><title>Le chat</title><meta name=description content="De chats"><link rel=canonical href=/chat>
			<a href=/b rel=nofollow>un lien</a><img src=c.png alt=image><script src=d.js></script><p>`+french), func(x *weftpb.Fetched) {
			x.ResponseHead = []byte("HTTP/1.1 200 Very OK\r\nContent-Type: text/html; charset=utf-8\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nSet-Cookie: c=3\r\n\r\n")
		}),
		with(pageOf("http://b.example/", "<title>Second</title><p>words"), later),
		pageOf("http://b.example/empty", ""),
		with(pageOf("http://b.example/text", "only a text"), func(x *weftpb.Fetched) {
			x.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
		}),
	)
	return b
}

// records are those of a file of WARC.
func records(t *testing.T, text string) (all []warc.Record) {
	t.Helper()
	for r, err := range warc.Records(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// WET has the text of each page that has one.
func TestWET(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		generation := archived.Folder(t)
		run1(t, as(Options{Format: WET, Compression: c}, options(sample(t), generation)))
		all := records(t, contents(t, generation)["c-0f-00003-000.warc.wet"+map[Compression]string{Gzip: ".gz", Zstd: ".zst"}[c]])
		if len(all) != 4 || all[0].Field("WARC-Type") != "warcinfo" || !strings.Contains(string(all[0].Block), "description: WET of c-0f-00003-000.warc.gz\r\n") {
			t.Fatalf("%s: %d records, the first is %v", c, len(all), all[0])
		}
		var got [][]string
		for _, r := range all[1:] {
			got = append(got, []string{
				r.Field("WARC-Type"), r.Field("WARC-Target-URI"), r.Field("WARC-Date"), r.Field("Content-Type"), r.Field("WARC-Identified-Content-Language"), string(r.Block),
			})
			if of := r.Field("WARC-Refers-To"); of == "" || of == r.Field("WARC-Record-ID") {
				t.Errorf("%s refers to %s", r.Field("WARC-Record-ID"), of)
			}
		}
		want := [][]string{
			{"conversion", "http://www.a.example/", "2026-11-01T12:00:00.000Z", "text/plain", "fra", "Le chat\nun lien\n" + french},
			{"conversion", "http://b.example/", "2026-11-02T01:00:00.000Z", "text/plain", "", "Second\nwords"},
			{"conversion", "http://b.example/text", "2026-11-01T12:00:00.000Z", "text/plain", "", "only a text"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c, diff)
		}
	}
}

// WAT has the headers and links of each page, and says where its response is.
func TestWAT(t *testing.T) {
	source, generation := sample(t), archived.Folder(t)
	run1(t, as(Options{Format: WAT}, options(source, generation)))
	all := records(t, contents(t, generation)["c-0f-00003-000.warc.wat.gz"])
	if len(all) != 5 {
		t.Fatalf("%d records", len(all))
	}
	for _, r := range all[1:] {
		var m metadata
		if err := json.Unmarshal(r.Block, &m); err != nil {
			t.Fatal(err)
		}
		offset, err1 := strconv.ParseInt(m.Container.Offset, 10, 64)
		length, err2 := strconv.ParseInt(m.Container.Length, 10, 64)
		var member bytes.Buffer
		err3 := source.GetRange(t.Context(), m.Container.Filename, offset, length, &member)
		response, err4 := warc.ReadMember(member.Bytes())
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || response.Field("WARC-Record-ID") != r.Field("WARC-Refers-To") {
			t.Errorf("%+v does not lead to the response: %v, %v, %v, %v", m.Container, err1, err2, err3, err4)
		}
		if length := fmt.Sprint(response.HeaderBytes); m.Envelope.Length != length || m.Envelope.Header["WARC-Target-URI"] != r.Field("WARC-Target-URI") {
			t.Errorf("%+v", m.Envelope)
		}
	}
	var m metadata
	if err := json.Unmarshal(all[1].Block, &m); err != nil {
		t.Fatal(err)
	}
	got := m.Envelope.Payload.Response
	want := httpResponse{
		HeadersLength: got.HeadersLength, EntityLength: got.EntityLength, EntityDigest: got.EntityDigest,
		Headers: map[string]any{"Content-Type": "text/html; charset=utf-8", "Set-Cookie": []any{"a=1", "b=2", "c=3"}},
		HTML: &htmlMetadata{
			Head: htmlHead{
				Title: "Le chat", Metas: []map[string]string{{"name": "description", "content": "De chats"}},
				Links:   []htmlLink{{Path: "LINK@/href", URL: "http://www.a.example/chat", Rel: "canonical"}},
				Scripts: []htmlLink{{Path: "SCRIPT@/src", URL: "http://www.a.example/d.js"}},
			},
			Links: []htmlLink{
				{Path: "A@/href", URL: "http://www.a.example/b", Text: "un lien", Rel: "nofollow"},
				{Path: "IMG@/src", URL: "http://www.a.example/c.png", Alt: "image"},
			},
		},
	}
	want.Message.Version, want.Message.Status, want.Message.Reason = "HTTP/1.1", "200", "Very OK"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if json.Unmarshal(all[4].Block, &m) != nil || !strings.Contains(string(all[4].Block), `"Entity-Length":"11"`) || strings.Contains(string(all[4].Block), "HTML-Metadata") {
		t.Errorf("a text is %s", all[4].Block)
	}
}

// WAT has the members of Common Crawl's. Of a copy it has the length of the payload that it refers to.
func TestWATLikeCommonCrawl(t *testing.T) {
	for _, c := range []warc.Compression{warc.Gzip, warc.Zstd} {
		source, generation := archived.Folder(t), archived.Folder(t)
		const body = "<title>One</title>"
		keep(t, source, c, "c-0f-00003-000", pageOf("http://a.example/", body), pageOf("http://a.example/copy", body))
		run1(t, as(Options{Format: WAT}, options(source, generation)))
		for i, r := range records(t, contents(t, generation)["c-0f-00003-000.warc.wat.gz"])[1:] {
			var m struct {
				Container map[string]any
				Envelope  struct {
					Payload struct {
						Length string         `json:"Actual-Content-Length"`
						Raw    map[string]any `json:"HTTP-Response-Metadata"`
					} `json:"Payload-Metadata"`
				}
			}
			if err := json.Unmarshal(r.Block, &m); err != nil {
				t.Fatal(err)
			}
			if got := m.Envelope.Payload.Raw["Entity-Length"]; got != fmt.Sprint(len(body)) {
				t.Errorf("%s: page %d has an entity of %v bytes", c, i, got)
			}
			offset, err1 := strconv.ParseInt(fmt.Sprint(m.Container["Offset"]), 10, 64)
			length, err2 := strconv.ParseInt(fmt.Sprint(m.Container["Deflate-Length"]), 10, 64)
			var member bytes.Buffer
			if err := errors.Join(err1, err2, source.GetRange(t.Context(), "c-0f-00003-000"+c.Extension(), offset, length, &member)); err != nil {
				t.Fatal(err)
			}
			response, err := warc.ReadMember(member.Bytes())
			if want := fmt.Sprint(len(response.Block)); err != nil || m.Envelope.Payload.Length != want {
				t.Errorf("%s: page %d has %s bytes, want %s: %v", c, i, m.Envelope.Payload.Length, want, err)
			}
			var want any
			if c == warc.Gzip {
				z, err := gzip.NewReader(&member)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(z)
				if err != nil {
					t.Fatal(err)
				}
				want = map[string]any{
					"Header-Length": "10", "Footer-Length": "8", "Deflate-Length": fmt.Sprint(length), "Inflated-Length": fmt.Sprint(len(text)),
					"Inflated-CRC": fmt.Sprint(int32(crc32.ChecksumIEEE(text))),
				}
			}
			if diff := cmp.Diff(want, m.Container["Gzip-Metadata"]); diff != "" {
				t.Errorf("%s: %s", c, diff)
			}
		}
	}
}

// Partitions have the pages of the generation, each in the folder of its day and domain.
func TestPartitions(t *testing.T) {
	source, whole := sample(t), archived.Folder(t)
	run1(t, options(source, whole))
	lines := strings.SplitAfter(contents(t, whole)["c-0f-00003-000.jsonl"], "\n")
	day1, day2, a, b := "fetch_date=2026-11-01/", "fetch_date=2026-11-02/", "domain=a.example/", "domain=b.example/"
	for partition, want := range map[Partition]map[string]string{
		ByDay:          {day1: lines[0] + lines[2] + lines[3], day2: lines[1]},
		ByDomain:       {a: lines[0], b: lines[1] + lines[2] + lines[3]},
		ByDayAndDomain: {day1 + a: lines[0], day1 + b: lines[2] + lines[3], day2 + b: lines[1]},
	} {
		generation := archived.Folder(t)
		run1(t, as(Options{Partition: partition}, options(source, generation)))
		got := contents(t, generation)
		var done struct{ Files []string }
		if err := json.Unmarshal([]byte(got["done/c-0f-00003-000.json"]), &done); err != nil {
			t.Fatal(err)
		}
		delete(got, jsonl.ManifestName)
		delete(got, "done/c-0f-00003-000.json")
		if diff := cmp.Diff(slices.Sorted(maps.Keys(got)), done.Files); diff != "" {
			t.Errorf("%s: %s", partition, diff)
		}
		folders := map[string]string{}
		for name, text := range got {
			folders[strings.TrimSuffix(name, "c-0f-00003-000.jsonl")] = text
		}
		if diff := cmp.Diff(want, folders); diff != "" {
			t.Errorf("%s: %s", partition, diff)
		}
	}
}

// A table has a row for each page.
func TestColumns(t *testing.T) {
	source, whole, generation := sample(t), archived.Folder(t), archived.Folder(t)
	run1(t, options(source, whole))
	run1(t, as(Options{Format: Parquet}, options(source, generation)))
	rows, err := parquet.Read[Row](bytes.NewReader([]byte(contents(t, generation)["c-0f-00003-000.parquet"])), int64(len(contents(t, generation)["c-0f-00003-000.parquet"])))
	if err != nil {
		t.Fatal(err)
	}
	var want []Row
	for _, p := range pagesIn(t, contents(t, whole)["c-0f-00003-000.jsonl"]) {
		row, err := rowOf(&p)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, row)
	}
	if diff := cmp.Diff(want, rows, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if r := rows[0]; r.Title != "Le chat" || r.Detected != "fr" || len(r.Links) != 4 || r.Links[1].Rel != "nofollow" || *r.ArchiveOffset != 0 || r.NoIndex || r.Fields != "" {
		t.Errorf("%+v", r)
	}
	if _, err := rowOf(&codecs.Parsed{Usage: map[string]string{"search": "y"}, Structured: &codecs.ParsedStructuredData{}}); err != nil {
		t.Error(err)
	}
}

// Each page has an object with its metadata, and pages with equal bodies share one.
func TestObjects(t *testing.T) {
	source, generation := archived.Folder(t), archived.Folder(t)
	keep(t, source, warc.Gzip, "c-0f-00003-000",
		pageOf("http://www.a.example/", "<title>One</title>"),
		pageOf("http://b.example/", "<title>One</title>"),
		with(pageOf("http://b.example/text", "a text"), func(x *weftpb.Fetched) {
			x.ResponseHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n" +
				"Transfer-Encoding: chunked\r\nX-Long: one\r\n two\r\n\r\n")
		}),
	)
	run1(t, as(Options{Format: Objects}, options(source, generation)))
	all := contents(t, generation)
	if all["done/c-0f-00003-000.json"] != `{"pages":3}` || len(all) != 3+2+2 {
		t.Errorf("%v", slices.Sorted(maps.Keys(all)))
	}
	got := map[string]objectMetadata{}
	for name, text := range all {
		if !strings.HasSuffix(name, "/metadata.json") {
			continue
		}
		var m objectMetadata
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		got[m.URL] = m
		domain := map[bool]string{true: "a.example", false: "b.example"}[strings.Contains(m.URL, "a.example")]
		if want := fmt.Sprintf("%s/%x/20261101T120000.000Z/metadata.json", domain, sha256.Sum256([]byte(m.URL))); name != want {
			t.Errorf("%s is at %s, want %s", m.URL, name, want)
		}
		z, err := gzip.NewReader(strings.NewReader(all[m.Body]))
		if err != nil {
			t.Fatalf("%s: %v", m.Body, err)
		}
		body, err := io.ReadAll(z)
		if err != nil || len(body) != m.BodyBytes || !strings.Contains(m.Body, fmt.Sprintf("%x", sha256.Sum256(body))) {
			t.Errorf("%s has %q, %v", m.Body, body, err)
		}
	}
	one, two, text := got["http://www.a.example/"], got["http://b.example/"], got["http://b.example/text"]
	if one.Body != two.Body || !strings.HasSuffix(one.Body, ".html.gz") || one.Title != "One" || one.Archived == nil || one.Status != 200 {
		t.Errorf("%+v and %+v", one, two)
	}
	if !slices.Equal(text.Headers["Set-Cookie"], []string{"a", "b"}) || strings.Contains(text.Body, "html") || text.BodyBytes != len("a text") {
		t.Errorf("%+v", text)
	}
	wire := http.Header{"Content-Type": {"text/plain"}, "Set-Cookie": {"a", "b"}, "Transfer-Encoding": {"chunked"}, "X-Long": {"one two"}}
	if diff := cmp.Diff(wire, text.Headers); diff != "" {
		t.Errorf("headers are not those of the wire (-want +got):\n%s", diff)
	}
}

// A bucket that fails ends the run.
func TestObjectsFail(t *testing.T) {
	generation := archived.Folder(t)
	fails := &failing{Bucket: generation, prefix: "bodies/"}
	if _, err := Run(t.Context(), as(Options{Format: Objects}, options(sample(t), fails))); !errors.Is(err, errFails) {
		t.Error(err)
	}
	if _, done := contents(t, generation)["done/c-0f-00003-000.json"]; done {
		t.Error("it says that all pages are there")
	}
}

var errFails = errors.New("the bucket fails")

// failing fails to put objects with a prefix.
type failing struct {
	blob.Bucket
	prefix string
}

func (f *failing) PutNew(ctx context.Context, key string, content io.Reader, size int64) error {
	if strings.HasPrefix(key, f.prefix) {
		return errFails
	}
	return f.Bucket.PutNew(ctx, key, content, size)
}

// DuckDB reads tables and JSON lines, and has the folders as columns.
func TestReadByDuckDB(t *testing.T) {
	python := child.Program(t, "parquet-readers/bin/python")
	source := sample(t)
	for _, f := range []Format{Parquet, JSONLines} {
		generation := archived.Folder(t)
		run1(t, as(Options{Format: f, Partition: ByDayAndDomain}, options(source, generation)))
		files := filepath.Join(generation.String(), "fetch_date=*", "domain=*", "*."+string(f))
		read := map[Format]string{Parquet: "read_parquet", JSONLines: "read_json"}[f]
		out, err := exec.Command(python, "testdata/query.py", fmt.Sprintf("%s('%s', hive_partitioning = true)", read, files)).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := `[["2026-11-01", "a.example", 1, 4], ["2026-11-01", "b.example", 2, 0], ["2026-11-02", "b.example", 1, 0]]`
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%s: %s, want %s", f, got, want)
		}
	}
}

// warcio finds nothing wrong in WET and WAT.
func TestReadByWarcio(t *testing.T) {
	warcio := child.Program(t, "warc-readers/bin/warcio")
	for _, f := range []Options{{Format: WET}, {Format: WAT}} {
		generation := archived.Folder(t)
		run1(t, as(f, options(sample(t), generation)))
		out, err := exec.Command(warcio, "check", "-v", filepath.Join(generation.String(), "c-0f-00003-000.warc."+string(f.Format)+".gz")).CombinedOutput()
		if err != nil || strings.Count(string(out), "digest pass") < 3 {
			t.Errorf("%s: %v: %s", f.Format, err, out)
		}
	}
}

// What cannot be is refused before anything is written.
func TestValidate(t *testing.T) {
	for _, o := range []Options{
		{Format: "csv"}, {Partition: "hour"}, {Format: WET, Compression: None}, {Format: WAT, Partition: ByDay}, {Format: Parquet, Compression: Gzip},
		{Format: Objects, Partition: ByDay}, {Format: Objects, Compression: Zstd},
	} {
		generation := archived.Folder(t)
		if _, err := Run(t.Context(), as(o, options(sample(t), generation))); err == nil || len(contents(t, generation)) > 0 {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
