package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/inspect/difference"
	"github.com/weftcrawl/weft/inspect/reparse"
)

// weftly runs a command of weft that succeeds, and returns what it prints.
func weftly(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	if code := command(ctx, args, streams{strings.NewReader(""), &out, &errs}, realEngine()); code != exitDone {
		t.Fatalf("weft %s ended with %d:\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String()
}

// asJSON runs a command of weft with --json.
func asJSON[T any](t *testing.T, args ...string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(weftly(t, append(args, "--json")...)), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// linesIn are the lines of the files of pages in a folder, as a set, and their number.
func linesIn(t *testing.T, dir string) (lines map[string]bool, n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of pages in %s: %v", dir, err)
	}
	lines = map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines[line] = true
			n++
		}
	}
	return lines, n
}

// withoutVerdict is a line without what the index of duplicates says.
func withoutVerdict(t *testing.T, line string) string {
	t.Helper()
	var record codecs.Parsed
	if err := json.Unmarshal([]byte(line), &record); err != nil {
		t.Fatal(err)
	}
	record.DuplicateOf = nil
	return string(record.AppendJSON(nil)) + "\n"
}

// An archive that is parsed again with the settings of its crawl has the records that the crawl wrote,
// byte for byte, except for duplicate_of. All formats and handlers are among its pages. With other
// settings the generation has what they add.
func TestReparse(t *testing.T) {
	t.Parallel()
	files := slices.Concat(imageFiles(t), plainFiles(), languageFiles(t), pageFiles(t))
	if !testing.Short() {
		files = slices.Concat(files, officeFiles(t), pdfFiles(t)) // PDFium takes seconds to begin
	}
	var coded bytes.Buffer
	z := gzip.NewWriter(&coded)
	_, _ = z.Write([]byte("<html lang=en><title>Coded</title><p>" + strings.Repeat("A page with a content coding. ", 30)))
	_ = z.Close()
	same := "<title>Twin</title><p>" + strings.Repeat("The same page at two URLs, which are not variants. ", 30)
	files = append(files,
		webFile{path: "/", media: "text/html", body: `<title>Home</title><a href="/missing">404</a>`},
		webFile{path: "/coded", media: "text/html", header: [][2]string{{"Content-Encoding", "gzip"}, {"Content-Usage", "train-ai=n"}}, body: coded.String()},
		webFile{path: "/one", media: "text/html", body: same}, webFile{path: "/two", media: "text/html", body: same},
	)
	web := serveFiles(t, append(sitemapFiles(files), files...))
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	weftly(t, "crawl", web.origin+"/", "--data", data, "--allow-private", "--delay", "0s", "--warc",
		"--follow-links", "a,alternate,image,feed", "--accept", "audio/*", "--accept", "application/zip", "--main-text")
	asked := len(web.asked)

	first := filepath.Join(dir, "first")
	report := asJSON[reparse.Report](t, "reparse", "--from", data, "--to", first)
	crawled, n := linesIn(t, filepath.Join(data, "pages"))
	parsed, m := linesIn(t, first)
	want := map[string]bool{}
	twins := 0
	for line := range crawled {
		want[withoutVerdict(t, line)] = true
		if strings.Contains(line, `"duplicate_of"`) {
			twins++
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(parsed))); diff != "" || n != m || n < 20 || twins == 0 {
		t.Errorf("the crawl wrote %d pages, %d of them duplicates, and the generation has %d:\n%s", n, twins, m, diff)
	}
	if report.Outcomes[reparse.Page] != int64(m) || report.Outcomes[reparse.NoPage] == 0 || len(report.Outcomes) != 2 || report.Files == 0 {
		t.Errorf("%+v", report)
	}

	// What is there is not made again.
	again := asJSON[reparse.Report](t, "reparse", "--from", data, "--to", first)
	if again.Files != 0 || again.Before != report.Files || len(again.Outcomes) != 0 {
		t.Errorf("a second run: %+v", again)
	}

	// Rules that the crawl did not have.
	rules := filepath.Join(dir, "title.yaml")
	if err := os.WriteFile(rules, []byte("fields: {name: title}"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(dir, "second")
	weftly(t, "reparse", "--from", filepath.Join(data, "warc"), "--to", second, "--rules", rules, "--compress", "gzip", "--main-text=false")
	d := asJSON[difference.Report](t, "diff", first, second)
	changes := map[string][3]int64{}
	for _, f := range d.Fields {
		changes[f.Name] = [3]int64{f.Added, f.Gone, f.Changed}
	}
	if d.PagesA != int64(m) || d.PagesB != int64(m) || d.Added+d.Gone != 0 || d.Changed == 0 || changes["fields.name"][0] == 0 ||
		changes["fields_by"][0] == 0 || changes["main_text"][1] == 0 || changes["title"] != [3]int64{} || changes["links"] != [3]int64{} {
		t.Errorf("%+v", d)
	}
	text := weftly(t, "diff", first, second)
	if !strings.Contains(text, "fields.name of "+web.origin) || !strings.Contains(text, `  + "Home"`) {
		t.Error(text)
	}
	if between := asJSON[difference.Report](t, "diff", data, first); between.Changed != int64(twins) || between.Fields[0].Name != "duplicate_of.distance" {
		t.Errorf("%+v", between)
	}

	// Other settings do not go into the same generation.
	var errs bytes.Buffer
	if code := command(t.Context(), []string{"reparse", "--from", data, "--to", first, "--markdown"}, streams{strings.NewReader(""), &errs, &errs}, realEngine()); code != exitUsage || !strings.Contains(errs.String(), "was begun in another way") {
		t.Errorf("%d: %s", code, errs.String())
	}
	if len(web.asked) != asked {
		t.Errorf("%d requests were made", len(web.asked)-asked)
	}
}
