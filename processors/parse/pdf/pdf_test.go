package pdf

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/tetratelabs/wazero"
	"golang.org/x/text/unicode/norm"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

func options() Options {
	return Options{
		Bounds:   extract.Bounds{MaxTextBytes: 1 << 20, MaxLinks: 1000, MaxHrefBytes: 8 << 10, MaxAnchorBytes: 256, MaxHeadings: 256, MaxFieldBytes: 1024},
		MaxPages: 10, MaxTime: time.Minute, MaxMemory: 64 << 20,
	}
}

// shared is one Reader for all tests: to compile PDFium takes seconds, and half a minute under the
// race detector. So make test keeps the compiled PDFium in .tools (WEFT_PDFIUM). Tests of the
// package above compile it anew.
var shared = New(options())

func TestMain(m *testing.M) {
	if dir := os.Getenv("WEFT_PDFIUM"); dir != "" {
		var err error
		if compiled, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(m.Run())
}

func read(t testing.TB, r *Reader, body []byte) *extract.Document {
	t.Helper()
	d, err := r.Read(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func load(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// On each page there are at least 98 % of the words that pdftotext finds.
func TestReference(t *testing.T) {
	for _, name := range []string{"report", "talk", "refcard-de"} {
		got := read(t, shared, load(t, name+".pdf"))
		want := strings.Split(strings.TrimSuffix(string(load(t, "reference/"+name+".txt")), "\f"), "\f")
		pages := strings.Split(got.Text, "\f")
		if got.Outcome != extract.Whole || len(pages) != len(want) || got.Pages != len(want) {
			t.Fatalf("%s: outcome %q, %d pages in the text, %d in the file, want %d", name, got.Outcome, len(pages), got.Pages, len(want))
		}
		for i := range want {
			if found, all := common(pages[i], want[i]); float64(found) < 0.98*float64(all) {
				t.Errorf("%s, page %d: %d of %d words\n%s", name, i+1, found, all, pages[i])
			}
		}
	}
}

// common counts the words of a reference, and how many of them a text has. Ligatures count as
// their letters.
func common(text, reference string) (found, all int) {
	fold := func(s string) []string {
		return strings.Fields(strings.NewReplacer("\u202b", "", "\u202c", "").Replace(norm.NFKC.String(s)))
	}
	have := map[string]int{}
	for _, word := range fold(text) {
		have[word]++
	}
	for _, word := range fold(reference) {
		all++
		if have[word] > 0 {
			have[word]--
			found++
		}
	}
	return found, all
}

func TestWhatFilesSay(t *testing.T) {
	want := &extract.Document{
		Title: "Weaving for beginners", Description: "Looms", Keywords: "loom, thread", Author: "Ada Weaver", Language: "en-US",
		Created: "2026-11-24T18:06:30Z", Pages: 1,
		Headings: []extract.Heading{{Level: 1, Text: "Warp and weft"}, {Level: 2, Text: "A table"}},
		Links:    []extract.Link{{URL: "https://example.com/looms?a=1&b=2", Text: "about looms"}, {URL: "http://example.org/ende", Text: "second link"}},
	}
	for _, name := range []string{"report.pdf", "protected.pdf"} {
		got := read(t, shared, load(t, name))
		got.Text = ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Words that a line cuts are whole, and white space is folded.
func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"a  b\r\n\r\nc":         "a b\nc",
		" in\x02\r\nto one\n":   "into one",
		"soft\u00adhyphen\x00x": "softhyphenx",
		"ends with \x02":        "ends with",
	} {
		l := lines{most: 100}
		l.add([]rune(in))
		if got := string(l.end()); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	l := lines{most: 3}
	if l.add([]rune("aäb")); string(l.end()) != "aä" || !l.full {
		t.Errorf("%q, full %v", l.end(), l.full)
	}
}

func TestDate(t *testing.T) {
	for written, want := range map[string]string{
		"D:20240201102030+01'00'": "2024-02-01T10:20:30+01:00", "D:20240201102030Z": "2024-02-01T10:20:30Z", "D:20240201102030": "2024-02-01T10:20:30",
		"D:20240201102030Z00'00'": "2024-02-01T10:20:30Z", "D:2024": "2024", "D:202402": "2024-02", "yesterday": "yesterday", "": "", "D:x": "D:x",
		"D:20240201102030-05": "2024-02-01T10:20:30-05:00",
	} {
		if got := date(written); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.example/": "https://a.example/", "HTTP://a.example/": "HTTP://a.example/", "mailto:a@b.example": "", "file:///c:/x.pdf": "", "": "",
		"C:/x.pdf": "", `\\server\x.pdf`: "", "#page=2": "", "other.pdf": "other.pdf", "../a/b.html?at=10:30": "../a/b.html?at=10:30", "/docs/": "/docs/",
		"www.a.example/x": "http://www.a.example/x", "WWW.a.example": "http://WWW.a.example", "www.a.example:8080/": "http://www.a.example:8080/",
	} {
		if got := target(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

// A link without a scheme is relative to the file, or to the base that the file names.
func TestRelativeLinks(t *testing.T) {
	const annotations = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>/Annots[" +
		"<</Type/Annot/Subtype/Link/Rect[40 690 100 720]/A<</S/URI/URI(other.pdf)>>>>]>>"
	for root, want := range map[string]string{
		catalog: "other.pdf", "<</Type/Catalog/Pages 2 0 R/URI<</Base(https://base.example/d/)>>>>": "https://base.example/d/other.pdf",
	} {
		got := read(t, shared, build(root, onePage, annotations, stream("", shown), font))
		if diff := cmp.Diff([]extract.Link{{URL: want, Text: "shown"}}, got.Links); diff != "" {
			t.Errorf("%s: %s", root, diff)
		}
	}
}

// A file that is cut within a stream has the pages in front of it, however its catalog is written.
func TestCutWithinAStream(t *testing.T) {
	const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
	for _, root := range []string{catalog, "<</PageLabels<</Nums[0<</S/D>>]>>/Pages 2 0 R/Type /Catalog>>"} {
		body := build(root, onePage, page, stream("", shown), font, "<</Length 5000>>\nstream\n"+strings.Repeat("(x", 2500)+"\nendstream")
		got := read(t, shared, body[:bytes.Index(body, []byte("(x(x"))+3000])
		if got.Text != "shown" || got.Pages != 1 || got.Outcome != extract.Damaged {
			t.Errorf("%s: %q, %d pages, %q", root, got.Text, got.Pages, got.Outcome)
		}
	}
}

// The words of a catalog in a text do not hide the catalog of a file that is cut.
func TestCatalogInAText(t *testing.T) {
	const page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
	text := stream("", "BT /F 12 Tf 50 700 Td (see /Type /Catalog here) Tj ET\n")
	body := build("<<>>", onePage, page, text, font, catalog, stream("", strings.Repeat("x", 500)))
	got := read(t, shared, body[:bytes.Index(body, []byte("xxx"))+100])
	if got.Text != "see /Type /Catalog here" || got.Pages != 1 {
		t.Errorf("%q, %d pages, %q", got.Text, got.Pages, got.Outcome)
	}
}

// A Reader that reads nothing compiles nothing.
func TestNothingIsPaidAhead(t *testing.T) {
	r := New(options())
	if r.engine.engine != nil {
		t.Error("PDFium is compiled, and nothing was read")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestPDFiumIsThatOfItsModule(t *testing.T) {
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	code, err := decoder.DecodeAll(pdfium, nil)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if sum := sha256.Sum256(code); err != nil || !strings.Contains(string(readme), hex.EncodeToString(sum[:])) {
		t.Errorf("%x is not in README.md, %v", sum, err)
	}
}
