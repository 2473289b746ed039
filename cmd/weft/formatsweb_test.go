package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/test/parsedschema"
)

// webFile is a file of a local web, and what its record has to be.
type webFile struct {
	path, media, body string
	header            [][2]string
	// want are members of the record, as JSON. An object has the members that it has here, and
	// others. A list is that list. null: there is no such member. ORIGIN is the server's origin.
	want string
	// words is the file with the words of the text in their order, as another program reads them.
	words string
	// links are URLs that the record has to name, after the origin if they begin with "/".
	links []string
}

// fileWeb serves files.
type fileWeb struct {
	origin string
	files  map[string]webFile

	mu    sync.Mutex
	asked []string // paths in order, except robots.txt
}

// serveFiles serves files. ORIGIN in texts stands for the server's origin. What ends with .gz is
// packed.
func serveFiles(t *testing.T, files []webFile) *fileWeb {
	t.Helper()
	w := &fileWeb{files: map[string]webFile{}}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.origin = server.URL
	for _, f := range files {
		if w.files[f.path].path != "" {
			t.Fatalf("two files are at %s", f.path)
		}
		if strings.HasPrefix(f.media, "text/") || strings.Contains(f.media, "xml") || strings.Contains(f.media, "json") || strings.HasSuffix(f.path, ".gz") {
			f.body = strings.ReplaceAll(f.body, "ORIGIN", w.origin)
		}
		if strings.HasSuffix(f.path, ".gz") {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, _ = z.Write([]byte(f.body))
			_ = z.Close()
			f.body = packed.String()
		}
		w.files[f.path] = f
	}
	return w
}

func (w *fileWeb) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	path := r.URL.RequestURI()
	w.mu.Lock()
	if path != "/robots.txt" {
		w.asked = append(w.asked, path)
	}
	w.mu.Unlock()
	f, ok := w.files[path]
	if !ok {
		http.NotFound(out, r)
		return
	}
	for _, h := range f.header {
		out.Header().Add(h[0], h[1])
	}
	if f.media != "" {
		out.Header().Set("Content-Type", f.media)
	} else {
		out.Header()["Content-Type"] = nil
	}
	_, _ = out.Write([]byte(f.body))
}

// fromDisk is the contents of a file in a folder of processors/parse.
func fromDisk(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "processors", "parse", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// crawlFiles runs weft crawl, and returns the records in the order in which they were written. Each
// of them follows the schema.
func (w *fileWeb) crawlFiles(t *testing.T, args ...string) (records []codecs.Parsed, lines map[string]map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pages.jsonl")
	args = append([]string{"crawl", w.origin + "/", "--data", filepath.Join(dir, "data"), "--allow-private", "--delay", "0s", "-o", file}, args...)
	var printed bytes.Buffer
	if code := command(ctx, args, streams{strings.NewReader(""), &printed, &printed}, realEngine()); code != exitDone {
		t.Fatalf("weft crawl ended with %d:\n%s", code, printed.String())
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schema := parsedschema.Compiled()
	lines = map[string]map[string]any{}
	for line := range strings.Lines(string(written)) {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%.300s does not follow the schema: %v", line, err)
		}
		var record codecs.Parsed
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(record.URL, w.origin)
		if lines[path] != nil {
			t.Errorf("%s has two records", path)
		}
		records, lines[path] = append(records, record), members
	}
	return records, lines
}

// check holds a record against what its file has to be.
func (w *fileWeb) check(t *testing.T, f webFile, record map[string]any) {
	t.Helper()
	if record == nil {
		t.Errorf("%s has no record", f.path)
		return
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(f.want, "ORIGIN", w.origin)), &want); f.want != "" && err != nil {
		t.Fatalf("%s: %v", f.path, err)
	}
	if diff := cmp.Diff(want, among(want, record)); diff != "" {
		t.Errorf("%s: the record is not as its reference (-want +got):\n%s", f.path, diff)
	}
	text, _ := record["text"].(string)
	if f.words != "" {
		if diff := cmp.Diff(wordsOf(fromDisk(t, f.words)), wordsOf(text)); diff != "" {
			t.Errorf("%s: the words are not those of %s:\n%s", f.path, f.words, diff)
		}
	}
	named := map[string]bool{}
	for _, link := range record["links"].([]any) {
		named[link.(map[string]any)["url"].(string)] = true
	}
	for _, url := range f.links {
		if strings.HasPrefix(url, "/") {
			url = w.origin + url
		}
		if !named[url] {
			t.Errorf("%s does not link to %s, but to %v", f.path, url, named)
		}
	}
}

// among are the members of got that want has.
func among(want, got map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range want {
		out[name] = got[name]
		inner, ok := value.(map[string]any)
		if gotten, both := got[name].(map[string]any); ok && both {
			out[name] = among(inner, gotten)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// wordsOf are the words of a text, without bullets and marks of direction.
func wordsOf(text string) []string {
	text = strings.NewReplacer("•", " ", "\ufeff", "", "\u202b", "", "\u202c", "").Replace(text)
	// A footnote has its place, and its number in the text, by choice of the program.
	text = strings.NewReplacer("A footnote about letters.", "", "עברית.1", "עברית.").Replace(text)
	return strings.Fields(text)
}

// urlset is a sitemap of entries in XML.
func urlset(entries ...string) string {
	return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"` +
		` xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">` + "\n" +
		strings.Join(entries, "\n") + "\n</urlset>"
}

func entry(path, more string) string {
	return fmt.Sprintf("<url><loc>ORIGIN%s</loc>%s</url>", path, more)
}
