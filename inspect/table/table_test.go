package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/s3server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const stem = "news-f61ff57dc70b-00003-000000000041207"

// example is an archive with two files, one of them with zstd.
func example(t *testing.T) blob.Bucket {
	t.Helper()
	b := archived.Folder(t)
	robots := archived.Exchange("https://www.example.co.uk/robots.txt", "User-agent: *", archived.Began)
	missing := archived.Exchange("http://[2001:db8::1]:8080/", "no", archived.Began)
	missing.Outcome.Status = 404
	archived.Put(t, b, warc.Gzip, stem, nil,
		archived.Exchange("https://www.example.co.uk/a?q=1&r", "un", archived.Began),
		archived.Exchange("https://www.example.co.uk/b", "deux", archived.Began.Add(time.Second)),
		&weftpb.Fetched{Robots: robots}, missing)
	archived.Put(t, b, warc.Zstd, "news-f61ff57dc70b-00003-000000000041299", nil,
		archived.Exchange("http://pages.s3.amazonaws.com:81/", "three", archived.Began))
	page := func(url, parsed string) warc.Metadata {
		return warc.Metadata{ID: "id of " + url, URL: url, Date: archived.Began, JSON: []byte(parsed)}
	}
	archived.PutMetadata(t, b, warc.Gzip, "news-0b52ac9d71e4-00003-000000000000000",
		page("https://www.example.co.uk/a?q=1&r", `{"content_type":"text/html","charset":"utf-8","detected_language":"fr","truncated":true}`),
		page("https://www.example.co.uk/b", `{"content_type":"text/plain"}`)) // an earlier exchange
	archived.PutMetadata(t, b, warc.Zstd, "news-0b52ac9d71e4-00003-000000000000002", page("http://pages.s3.amazonaws.com:81/", `{"detected_language":"xx"}`))
	return b
}

// rows reads the file of an index.
func rows(t *testing.T, b blob.Bucket, name string) []Row {
	t.Helper()
	var text bytes.Buffer
	if err := b.Get(t.Context(), Folder+name, &text); err != nil {
		t.Fatal(err)
	}
	all, err := parquet.Read[Row](bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMake(t *testing.T) {
	b := example(t)
	report, err := Make(t.Context(), b)
	if want := (Report{Files: 2, Rows: 5, Described: 2}); err != nil || report != want {
		t.Errorf("%+v, %v", report, err)
	}
	all := rows(t, b, stem+".000000000000004.parquet")
	if len(all) != 4 {
		t.Fatalf("%d rows", len(all))
	}
	digest := all[2].Digest
	want := Row{
		SURT: "uk,co,example)/a?q=1&r", URL: "https://www.example.co.uk/a?q=1&r", Host: "www.example.co.uk",
		TLD: some("uk"), SecondLast: some("co"), ThirdLast: some("example"), FourthLast: some("www"),
		RegistrySuffix: some("co.uk"), RegisteredDomain: some("example.co.uk"), PrivateSuffix: some("co.uk"), PrivateDomain: some("example.co.uk"),
		Reversed: some("uk.co.example.www"), Protocol: "https", Path: "/a", Query: some("q=1&r"),
		FetchTime: archived.Began, FetchStatus: 200, Digest: all[1].Digest, MIMEType: some("text/html"),
		MIMEDetected: some("text/html"), Charset: some("utf-8"), Languages: some("fra"), Truncated: some("length"),
		File: stem + ".warc.gz", Offset: all[1].Offset, Length: all[1].Length, Segment: "news-f61ff57dc70b-00003", Crawl: "news", Subset: "warc",
	}
	if diff := cmp.Diff(want, all[1]); diff != "" {
		t.Error(diff)
	}
	if r := all[0]; r.Host != "[2001:db8::1]" || *r.Port != 8080 || r.TLD != nil || r.RegisteredDomain != nil || r.Subset != "crawldiagnostics" || r.FetchStatus != 404 {
		t.Errorf("an address: %+v", r)
	}
	if r := all[2]; r.URL != "https://www.example.co.uk/b" || r.MIMEDetected != nil || digest == nil || len(*digest) != 32 {
		t.Errorf("a page without metadata: %+v", r)
	}
	if r := all[3]; r.Subset != "robotstxt" {
		t.Errorf("robots.txt: %+v", r)
	}
	other := rows(t, b, "news-f61ff57dc70b-00003-000000000041299.000000000000001.parquet")[0]
	if *other.RegisteredDomain != "amazonaws.com" || *other.PrivateDomain != "pages.s3.amazonaws.com" || *other.RegistrySuffix != "com" || *other.PrivateSuffix != "s3.amazonaws.com" ||
		*other.Port != 81 || other.Languages != nil {
		t.Errorf("%+v", other)
	}

	// What is there is not made again, and what is new is.
	archived.Put(t, b, warc.Gzip, "news-f61ff57dc70b-00003-000000000041300", nil, archived.Exchange("http://a.example/", "a", archived.Began))
	if report, err = Make(t.Context(), b); err != nil || report != (Report{Files: 1, Before: 2, Rows: 1}) {
		t.Errorf("%+v, %v", report, err)
	}
	// Damaged metadata is an error, and not a table without it.
	archived.Put(t, b, warc.Gzip, "news-f61ff57dc70b-00003-000000000041301", nil, archived.Exchange("http://a.example/", "a", archived.Began))
	archived.PutText(t, b, "news-0b52ac9d71e4-00003-000000000000009.meta.warc.gz", "damaged")
	if report, err = Make(t.Context(), b); err == nil || !strings.Contains(err.Error(), "000000000000009.meta.warc.gz") || report.Files != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// DuckDB reads the files.
func TestReadByDuckDB(t *testing.T) {
	python := child.Program(t, "parquet-readers/bin/python")
	b := example(t)
	if _, err := Make(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "testdata/query.py", filepath.Join(b.String(), Folder)).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got struct {
		Columns [][2]string
		Pages   [][]any
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, c := range got.Columns {
		types[c[0]] = c[1]
	}
	for column, want := range map[string]string{
		"url": "VARCHAR", "url_port": "INTEGER", "fetch_time": "TIMESTAMP WITH TIME ZONE", "fetch_status": "SMALLINT", "warc_record_offset": "BIGINT", "warc_record_length": "INTEGER",
	} {
		if types[column] != want {
			t.Errorf("%s is %s, want %s", column, types[column], want)
		}
	}
	if len(got.Columns) != 32 || len(got.Pages) != 2 || got.Pages[0][0] != "https://www.example.co.uk/a?q=1&r" || got.Pages[0][1] != "fra" || got.Pages[1][1] != nil {
		t.Fatalf("%d columns, %v", len(got.Columns), got.Pages)
	}
	// A row leads to its record.
	var member bytes.Buffer
	row := got.Pages[1]
	if err := b.GetRange(t.Context(), row[2].(string), int64(row[3].(float64)), int64(row[4].(float64)), &member); err != nil {
		t.Fatal(err)
	}
	record, err := warc.ReadMember(member.Bytes())
	if _, payload := record.Message(); err != nil || string(payload) != "deux" {
		t.Errorf("%q, %v", payload, err)
	}
}

// In a bucket of S3 the merged index and the table are beside the files, and a replay finds the files.
func TestInBucket(t *testing.T) {
	location := s3server.Serve(t, "table")
	b, err := blob.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		archived.Put(t, b, warc.Gzip, fmt.Sprintf("%s-%d", stem, n), nil, archived.Exchange(fmt.Sprintf("http://a.example/%d", n), fmt.Sprint("page ", n), archived.Began))
	}
	if m, fresh, err := kept.Merge(t.Context(), b); err != nil || fresh != 3 || m.Lines != 3 {
		t.Errorf("%+v, %d, %v", m, fresh, err)
	}
	if report, err := Make(t.Context(), b); err != nil || report != (Report{Files: 3, Rows: 3}) {
		t.Errorf("%+v, %v", report, err)
	}
	if x, err := kept.Find(t.Context(), b, "http://a.example/1", archived.Began); err != nil || string(x.Payload) != "page 1" {
		t.Errorf("%+v, %v", x, err)
	}
	if ix, err := kept.Load(t.Context(), b); err != nil || ix.Len() != 3 {
		t.Errorf("%v", err)
	}
}
