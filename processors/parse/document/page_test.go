package document

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// exchanges are the headers under which the documents of testdata/pages are
// read. Those marked broken are where tree and tokens may differ: nesting is
// mended by the tree only.
var exchanges = []struct {
	file        string
	contentType string
	language    string
	robotsTags  []string
	broken      bool
}{
	{file: "article.html", contentType: "text/html"},
	{file: "frames.html", contentType: "text/html"},
	{file: "iframe-base-refresh.html", contentType: "application/xhtml+xml", language: "en"},
	{file: "robots.html", contentType: "text/html", language: "de", robotsTags: []string{"noarchive"}},
	{file: "broken.html", contentType: "text/html", broken: true},
	{file: "nul.html", contentType: "text/html"},
	{file: "deep.html", contentType: "text/html"},
	{file: "plain.html", contentType: "text/plain", language: "en, de"},
	{file: "shift-jis-header.html", contentType: `text/html; charset="Shift_JIS"`},
	{file: "euc-jp-meta.html", contentType: "text/html"},
	{file: "iso-2022-jp-meta.html", contentType: "text/html"},
	{file: "windows-1251-meta.html", contentType: "text/html"},
	{file: "koi8-r-xml.html", contentType: "application/xhtml+xml"},
	{file: "utf-16le-bom.html", contentType: "text/html; charset=utf-8"},
	{file: "utf-16be-bom.html", contentType: "text/html"},
	{file: "utf-8-bom.html", contentType: "text/html"},
	{file: "utf-8-late.html", contentType: "text/html"},
	{file: "windows-1252-guess.html", contentType: "text/html"},
	{file: "utf-8-wrong-label.html", contentType: "text/html"},
	{file: "metadata.html", contentType: "text/html; charset=utf-8"},
	{file: "references.html", contentType: "text/html; charset=utf-8"},
	{file: "rendering.html", contentType: "text/html; charset=utf-8"},
	{file: "xhtml.html", contentType: "application/xhtml+xml"},
	{file: "canonical-conflict.html", contentType: "text/html; charset=utf-8"},
	{file: "unknown-label.html", contentType: "text/html; charset=none-of-them"},
}

func TestPages(t *testing.T) {
	tree := newParser(t, nil)
	tokens := newParser(t, func(o *Options) { o.MaxTreeBytes = 0 })
	for _, x := range exchanges {
		t.Run(x.file, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", "pages", x.file))
			if err != nil {
				t.Fatal(err)
			}
			in := Input{
				URL: "https://www.example.org/loom.html", Body: body,
				ContentType: x.contentType, ContentLanguage: x.language, RobotsTags: x.robotsTags,
			}
			page := tree.Document(in)
			assertGolden(t, x.file, page)
			if diff := differences(page, tokens.Document(in)); diff != "" && !x.broken {
				t.Errorf("tree and tokens differ: %s", diff)
			}
		})
	}
	files, err := os.ReadDir(filepath.Join("testdata", "pages"))
	if err != nil || len(files) != len(exchanges) {
		t.Errorf("%d documents, %d in the table, %v", len(files), len(exchanges), err)
	}
}

// assertGolden compares the page with its golden file, the text line by line.
func assertGolden(t *testing.T, name string, page *Page) {
	t.Helper()
	view := struct {
		*Page
		Text []string
	}{page, strings.Split(page.Text, "\n")}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(view); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "golden", strings.TrimSuffix(name, ".html")+".json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// The first attribute of a name counts (WHATWG HTML, the duplicate-attribute parse error).
func TestRepeatedAttributes(t *testing.T) {
	const body = `<img src=/a alt=x src=/b alt=y srcset=/c srcset=/d><script src=/e src=/f></script>`
	for path, limit := range map[string]int{"tree": 1 << 20, "tokens": 0} {
		p := newParser(t, func(o *Options) { o.MaxTreeBytes = limit })
		page := p.Document(Input{URL: "http://a.example/", ContentType: "text/html", Body: []byte(body)})
		var got []string
		for _, l := range page.Links {
			got = append(got, l.URL+l.Text)
		}
		if d := cmp.Diff([]string{"/ax", "/cx", "/e"}, got); d != "" {
			t.Errorf("%s:\n%s", path, d)
		}
	}
}
