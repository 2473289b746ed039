package crawl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/test/parsedschema"
	"github.com/weftcrawl/weft/topics"
)

// lines are the records in the files of pages; the last one of a file must
// have its end.
func lines(t *testing.T, o crawl.Options) (all []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(o.Dir, "pages", "pages-*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of pages: %v", err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) == 0 {
			continue
		}
		whole, ok := bytes.CutSuffix(raw, []byte("\n"))
		if !ok {
			t.Fatalf("the last line of %s is cut", name)
		}
		all = append(all, strings.Split(string(whole), "\n")...)
	}
	return all
}

// read decodes records of pages.
func read(t *testing.T, lines []string) []codecs.Parsed {
	t.Helper()
	pages := make([]codecs.Parsed, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &pages[i]); err != nil {
			t.Fatalf("line %d: %v: %.200s", i+1, err, line)
		}
	}
	return pages
}

// equalsTopic holds the files against the topic parsed, and its records
// against their published schema.
func equalsTopic(t *testing.T, o crawl.Options, lines []string) {
	t.Helper()
	schema := parsedschema.Compiled()
	var values []string
	for _, r := range readTopic(t, reopened(t, o), topics.Loop(o.Definition.Crawl).Parsed) {
		values = append(values, string(r.Value))
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Value))
		if err != nil {
			t.Fatalf("record %d of partition %d: %v", r.Offset, r.Partition, err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("record %d of partition %d: %v", r.Offset, r.Partition, err)
		}
	}
	lines = slices.Sorted(slices.Values(lines))
	slices.Sort(values)
	if !slices.Equal(lines, values) {
		t.Errorf("the files hold %d lines, the topic %d records, and they are not the same", len(lines), len(values))
	}
}

// holds checks that the pages of the web are all there, each with the id, and
// the title and text, that it always has. It returns how many are there more
// than once.
func holds(t *testing.T, w *web, pages []codecs.Parsed) (repeats int) {
	t.Helper()
	ids := map[string]string{}
	for _, p := range pages {
		path := strings.TrimPrefix(p.URL, origin(p.URL))
		if strings.HasPrefix(path, "/private/") && !w.Denied(p.Domain, path) {
			continue // a page like any other where no robots.txt denies it
		}
		if id, ok := ids[p.URL]; ok {
			repeats++
			if id != p.ID {
				t.Errorf("%s has the ids %s and %s", p.URL, id, p.ID)
			}
		}
		ids[p.URL] = p.ID
		want := w.Page(p.Domain, w.server.Port(), path)
		switch {
		case want == nil:
			t.Errorf("%s is no page of the web", p.URL)
		case p.Title != want.Title:
			t.Errorf("%s: title %q, want %q", p.URL, p.Title, want.Title)
		case strings.Join(strings.Fields(p.Text), " ") != want.Text:
			t.Errorf("%s: its text is another", p.URL)
		}
	}
	names := map[string]bool{}
	for _, id := range ids {
		names[id] = true
	}
	if len(names) != len(ids) {
		t.Errorf("%d pages have %d ids", len(ids), len(names))
	}
	expected := 0
	for domain, path := range w.Pages() {
		expected++
		if url := w.url(domain, path); ids[url] == "" {
			t.Errorf("no record of %s", url)
		}
	}
	if len(ids) != expected {
		t.Errorf("records of %d pages, want %d", len(ids), expected)
	}
	return repeats
}

// origin of a URL with a path.
func origin(url string) string {
	const scheme = "http://"
	host, _, _ := strings.Cut(strings.TrimPrefix(url, scheme), "/")
	return scheme + host
}
