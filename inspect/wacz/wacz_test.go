package wacz

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/test/archived"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var options = Options{Title: "A title", Software: "weft test", Created: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)}

func text(t *testing.T, b blob.Bucket, key string) string {
	t.Helper()
	var text bytes.Buffer
	if err := b.Get(t.Context(), key, &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// members are the files of a WACZ, in its order.
func members(t *testing.T, wacz []byte) (names []string, texts map[string]string, methods map[string]uint16) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wacz), int64(len(wacz)))
	if err != nil {
		t.Fatal(err)
	}
	texts, methods = map[string]string{}, map[string]uint16{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		names, texts[f.Name], methods[f.Name] = append(names, f.Name), string(text), f.Method
	}
	return names, texts, methods
}

func TestWrite(t *testing.T) {
	b := archived.Folder(t)
	for n := range 2 {
		archived.Put(t, b, warc.Gzip, fmt.Sprintf("c-0f-0000%d-000", n), nil, archived.Exchange(fmt.Sprintf("http://%d.example/", n), "text", archived.Began))
	}
	archived.PutMetadata(t, b, warc.Gzip, "c-0e-00000-000",
		warc.Metadata{ID: "1", URL: "http://0.example/", Date: archived.Began, JSON: []byte(`{"title":"The <first>","content_type":"text/html"}`)},
		warc.Metadata{ID: "2", URL: "http://1.example/", Date: archived.Began, JSON: []byte(`{"content_type":"application/xhtml+xml"}`)},
		warc.Metadata{ID: "1", URL: "http://0.example/", Date: archived.Began, JSON: []byte(`{"title":"The <first>","content_type":"text/html"}`)}, // after a kill
		warc.Metadata{ID: "3", URL: "http://1.example/i.png", Date: archived.Began, JSON: []byte(`{"content_type":"image/png"}`)},
	)
	var out bytes.Buffer
	report, err := Write(t.Context(), b, &out, options)
	if err != nil || report != (Report{Files: 2, Lines: 2, Pages: 2}) {
		t.Fatalf("%+v, %v", report, err)
	}
	names, texts, methods := members(t, out.Bytes())
	want := []string{
		"archive/c-0f-00000-000.warc.gz", "archive/c-0f-00001-000.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx",
		"pages/pages.jsonl", "datapackage.json", "datapackage-digest.json",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for _, name := range want[:3] {
		if methods[name] != zip.Store {
			t.Errorf("%s is compressed, so that a reader cannot seek in it", name)
		}
	}
	for _, name := range want[:2] {
		if texts[name] != text(t, b, strings.TrimPrefix(name, "archive/")) {
			t.Errorf("%s is not the file of the archive", name)
		}
	}
	var described struct {
		Version   string `json:"wacz_version"`
		Title     string
		Created   string
		Resources []resource
	}
	if err := json.Unmarshal([]byte(texts["datapackage.json"]), &described); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, r := range described.Resources {
		paths = append(paths, r.Path)
		if r.Hash != sum(texts[r.Path]) || r.Bytes != int64(len(texts[r.Path])) {
			t.Errorf("%+v is not %s", r, sum(texts[r.Path]))
		}
	}
	if diff := cmp.Diff(want[:5], paths); diff != "" || described.Version != "1.1.1" || described.Title != "A title" || described.Created != "2026-11-02T00:00:00Z" {
		t.Errorf("%+v\n%s", described, diff)
	}
	if got := texts["datapackage-digest.json"]; got != fmt.Sprintf(`{"hash":%q,"path":"datapackage.json"}`, sum(texts["datapackage.json"])) {
		t.Error(got)
	}
	lines := strings.Split(strings.TrimSpace(texts["pages/pages.jsonl"]), "\n")
	var first page
	if err := json.Unmarshal([]byte(lines[1]), &first); err != nil || len(lines) != 3 || !strings.Contains(lines[0], `"format":"json-pages-1.0"`) {
		t.Fatalf("%q, %v", lines, err)
	}
	if first.URL != "http://0.example/" || first.Date != "2026-11-01T12:00:00.000Z" || first.Title != "The <first>" || len(first.ID) != 36 {
		t.Errorf("%+v", first)
	}
}

func sum(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// Each block of the index is a member of gzip at the place that is said.
func TestBlocks(t *testing.T) {
	var index strings.Builder
	for n := range 2*blockLines + 1 {
		fmt.Fprintf(&index, "example,a)/%06d?x={a} 20261101120000 {\"url\":\"http://a.example/%06d?x={a}\"}\n", n, n)
	}
	var out, places, whole bytes.Buffer
	if err := blocks(strings.NewReader(index.String()), &out, &places); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(places.String()), "\n")
	for n, line := range lines {
		key, rest, _ := strings.Cut(line, " {")
		if want := fmt.Sprintf("example,a)/%06d?x={a} 20261101120000", n*blockLines); key != want {
			t.Errorf("block %d begins with %q, want %q", n, key, want)
		}
		var p place
		if err := json.Unmarshal([]byte("{"+rest), &p); err != nil || p.File != "index.cdx.gz" {
			t.Fatalf("%s: %v", line, err)
		}
		member := out.Bytes()[p.Offset : p.Offset+int64(p.Length)]
		in, err := gzip.NewReader(bytes.NewReader(member))
		if err != nil || p.Digest != sum(string(member)) {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := io.Copy(&whole, in); err != nil {
			t.Error(err)
		}
	}
	if len(lines) != 3 || whole.String() != index.String() {
		t.Errorf("%d blocks have %d bytes, want %d", len(lines), whole.Len(), index.Len())
	}
}

// What cannot be written has an error.
func TestRefused(t *testing.T) {
	b := archived.Folder(t)
	if _, err := Write(t.Context(), b, io.Discard, options); !errors.Is(err, kept.ErrEmpty) {
		t.Error(err)
	}
	archived.Put(t, b, warc.Zstd, "c-0f-00000-000", nil, archived.Exchange("http://a.example/", "text", archived.Began))
	if _, err := Write(t.Context(), b, io.Discard, options); !errors.Is(err, ErrZstd) {
		t.Error(err)
	}
	b = archived.Folder(t)
	archived.Put(t, b, warc.Gzip, "c-0f-00000-000", nil, archived.Exchange("http://a.example/", "text", archived.Began))
	if _, err := Write(t.Context(), b, full{}, options); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
