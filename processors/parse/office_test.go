package parse

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/topics"
)

func officeFile(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("office", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A file of an office program is a page, whatever the server calls it.
func TestOfficeFilesArePages(t *testing.T) {
	for _, c := range []struct{ file, media, title, text string }{
		{"report.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "Weaving for beginners", "Warp and weft\nThe warp"},
		{"report.docx", "application/octet-stream", "Weaving for beginners", "Warp and weft"},
		{"report.docx", "binary/octet-stream", "Weaving for beginners", "Warp and weft"},
		{"report.docx", "application/zip", "Weaving for beginners", "Warp and weft"},
		{"report.docx", "", "Weaving for beginners", "Warp and weft"},
		{"report.docx", "application/vnd.oasis.opendocument.text", "Weaving for beginners", "Warp and weft"},
		{"report.docx", "application/msword", "Weaving for beginners", "Warp and weft"},
		{"report.rtf", "application/msword", "Weaving for beginners", "Warp and weft"},
		{"report.docx", "application/force-download", "Weaving for beginners", "Warp and weft"},
		{"numbers.xlsx", "application/vnd.ms-excel", "Prices of thread", "Prices\nThread\tPrice"},
		{"report.odt", "application/vnd.oasis.opendocument.text", "Weaving for beginners", "Warp and weft"},
		{"report.rtf", "application/rtf", "Weaving for beginners", "Warp and weft"},
		{"report.rtf", "", "Weaving for beginners", "Warp and weft"},
		{"report.epub", "application/epub+zip", "Weaving for beginners", "Warp and weft\nThe warp is held under tension; the weft"},
		{"python.epub", "application/epub+zip", "Made by ebooklib", "Erstes\nMit Verweis und innerem.\fZweites\nGröße."},
		{"numbers.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Prices of thread", "Prices\nThread\tPrice"},
		{"talk.pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "A talk on looms", "What a loom does\n"},
	} {
		page, _ := pageOf(t, file("https://a.example/f", c.media, 200, officeFile(t, c.file), nil))
		if page.Title != c.title || !strings.HasPrefix(page.Text, c.text) || page.Unparsed != "" || page.Fallback != "" {
			t.Errorf("%s as %q: %q, %.60q, %q, %q", c.file, c.media, page.Title, page.Text, page.Unparsed, page.Fallback)
		}
		if strings.HasPrefix(c.file, "report.") && (page.Author != "Ada Weaver" || !strings.HasPrefix(page.Date, "2024-02-01T10:20")) && c.file != "report.epub" {
			t.Errorf("%s: by %q, %q", c.file, page.Author, page.Date)
		}
	}
	page, _ := pageOf(t, file("https://a.example/f", "application/vnd.oasis.opendocument.text", 200, officeFile(t, "report.odt"), nil))
	if page.Modified != "2025-03-04T05:06:07" || page.Pages != 1 || len(page.Headings) != 2 || page.Language != "en-GB" {
		t.Errorf("modified %q, %d pages, %v, %q", page.Modified, page.Pages, page.Headings, page.Language)
	}
}

// Links of files are followed like links of pages, and obey the header of the file.
func TestLinksOfOfficeFiles(t *testing.T) {
	f := file("https://a.example/f", "application/vnd.oasis.opendocument.text", 200, officeFile(t, "report.odt"), nil)
	links, _ := made(t, topics.Definition{}, f)
	for _, want := range []string{"https://example.com/looms?a=1&b=2", "http://example.org/ende"} {
		if !slices.Contains(links, want) {
			t.Errorf("no %s in %v", want, links)
		}
	}
	f.Headers = append(f.Headers, &weftpb.Header{Name: "X-Robots-Tag", Value: "nofollow"})
	if links, _ = made(t, topics.Definition{}, f); slices.Contains(links, "http://example.org/ende") {
		t.Errorf("a file that asks for nofollow names %v", links)
	}
}

// What a file cannot be read for has a name. What is no such file is what it was before.
func TestOutcomesOfOfficeFiles(t *testing.T) {
	const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	var drawing strings.Builder
	w := zip.NewWriter(&drawing)
	if part, err := w.Create("mimetype"); err == nil {
		_, _ = part.Write([]byte("application/vnd.oasis.opendocument.graphics"))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, media, body, unparsed, fallback string }{
		{"encrypted", docx, officeFile(t, "encrypted.docx"), "encrypted", ""},
		{"truncated", docx, officeFile(t, "report.docx")[:5000], "", "damaged"},
		{"truncated early", docx, officeFile(t, "report.docx")[:50], "damaged", ""},
		{"HTML", docx, "<html>", "unsupported_type", ""},
		{"another archive", "application/zip", "PK\x03\x04" + strings.Repeat("x", 100), "unsupported_type", ""},
		{"before 2007, by its bytes", docx, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 word", "unsupported_type", ""},
		{"a drawing", "application/vnd.oasis.opendocument.graphics", drawing.String(), "unsupported_type", ""},
		{"before 2007", "application/msword", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 word", "unsupported_type", ""},
	} {
		page, _ := pageOf(t, file("https://a.example/f", c.media, 200, c.body, nil))
		if page.Unparsed != c.unparsed || page.Fallback != c.fallback {
			t.Errorf("%s: %q and %q, want %q and %q", c.name, page.Unparsed, page.Fallback, c.unparsed, c.fallback)
		}
	}
}
