package office

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// bombBytes is the size of a part that repeats.
const bombBytes = 4 << 20

// archiveOf makes a zip file of names and contents in turn. A content that ends with "…" is repeated
// until the part has bombBytes.
func archiveOf(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for i := 0; i < len(parts); i += 2 {
		f, err := w.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		content, bomb := strings.CutSuffix(parts[i+1], "…")
		if bomb {
			head, tail, _ := strings.Cut(content, "|")
			_, _ = io.WriteString(f, head)
			block := strings.Repeat(tail, 1<<20/len(tail))
			for range bombBytes >> 20 {
				_, _ = io.WriteString(f, block)
			}
			continue
		}
		_, _ = io.WriteString(f, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const (
	wordHead = `<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>before</w:t></w:r></w:p>`
	odt      = "application/vnd.oasis.opendocument.text"
)

// Each hostile file has an outcome with a name, takes bounded memory, and gives what can be read of it.
func TestHostileFiles(t *testing.T) {
	o := options()
	o.MaxUnpackedBytes, o.MaxTextBytes = bombBytes/2, 64<<10
	report := load(t, "report.docx")
	truncated := report[:len(report)*3/4]
	deep := strings.Repeat("<w:x>", 150_000)
	entities := `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	encryptedZip := archiveOf(t, "word/document.xml", wordHead)
	for _, head := range []string{localHeader, directoryHeader} {
		at := bytes.Index(encryptedZip, []byte(head))
		encryptedZip[at+map[string]int{localHeader: 6, directoryHeader: 8}[head]] |= 1
	}
	for _, c := range []struct {
		name    string
		body    []byte
		kind    Kind
		outcome extract.Outcome
		text    string
	}{
		{"encrypted file of Word", load(t, "encrypted.docx"), None, extract.Encrypted, ""},
		{"encrypted part", encryptedZip, Word, extract.Encrypted, ""},
		{"encrypted OpenDocument", archiveOf(t, "mimetype", odt, "META-INF/manifest.xml", "<m><encryption-data/></m>", "content.xml", "\x00\x01"), Text, extract.Encrypted, ""},
		{"locked book", archiveOf(t, "META-INF/container.xml", `<rootfile full-path="o/p.opf"/>`, "o/p.opf",
			`<p><item id="a" href="a%20b.html" media-type="text/html"/><item id="b" href="b.html" media-type="text/html"/><itemref idref="a"/><itemref idref="b"/></p>`,
			"o/a b.html", "\x01", "o/b.html", "<p>free</p>", "META-INF/encryption.xml", `<CipherReference URI="o/a%20b.html"/>`), EPUB, extract.Encrypted, "free"},
		{"truncated file", truncated, Word, extract.Damaged, "Warp and weft"},
		{"truncated within its first part", report[:100], None, extract.Damaged, ""},
		{"directory that lies", append(bytes.Clone(report[:len(report)-30]), "PK\x05\x06 nonsense nonsense "...), Word, extract.Damaged, "Warp and weft"},
		{"broken XML", archiveOf(t, "word/document.xml", wordHead+"<w:p><w:t>after</w:t><w:t a=<<<"), Word, extract.Damaged, "before"},
		{"an element that is never closed", archiveOf(t, "word/document.xml", wordHead+"<w:p><w:r><w:t>after</w:t></w:r>"), Word, extract.Damaged, "before\nafter"},
		{"text that is not XML", archiveOf(t, "mimetype", odt, "content.xml", "xxxx"), Text, extract.Damaged, ""},
		{"no document in it", archiveOf(t, "mimetype", odt), Text, extract.Damaged, ""},
		{"book without a package", archiveOf(t, "mimetype", "application/epub+zip"), EPUB, extract.Damaged, ""},
		{"zip bomb of text", archiveOf(t, "word/document.xml", wordHead+"|<w:p><w:t>a long text </w:t></w:p>…"), Word, extract.Whole, "before"},
		{"zip bomb of tags", archiveOf(t, "word/document.xml", wordHead+"|<w:pPr></w:pPr>…"), Word, extract.TooCostly, "before"},
		{"one text without end", archiveOf(t, "word/document.xml", wordHead+"<w:t>|aaaa…"), Word, extract.TooCostly, "before"},
		{"one tag without end", archiveOf(t, "word/document.xml", wordHead+"<w:t |a='b' …"), Word, extract.TooCostly, "before"},
		{"bomb of shared strings", archiveOf(t, "xl/workbook.xml", "<x/>", "xl/sharedStrings.xml", "<sst>|<si></si>…"), Excel, extract.TooCostly, ""},
		{"a long blank string in many cells", sheetOf(t, "", "<si><t>"+strings.Repeat("_x0020_", 35_000)+"</t></si>", strings.Repeat(`<c t="s"><v>0</v></c>`, 20_000)), Excel, extract.Whole, "One"},
		{"bomb of styles", archiveOf(t, "xl/workbook.xml", "<x/>", "xl/styles.xml", "<cellXfs>|<xf/>…"), Excel, extract.TooCostly, ""},
		{"bomb of metadata", archiveOf(t, "word/document.xml", wordHead, "docProps/core.xml", "<title>|<a>b</a>…"), Word, extract.TooCostly, ""},
		{"entities that grow", archiveOf(t, "word/document.xml", entities+wordHead+"<w:t>&b;</w:t>"), Word, extract.Damaged, "before\n&b;"},
		{"many open elements", archiveOf(t, "word/document.xml", wordHead+deep), Word, extract.Damaged, "before"},
		{"archive in an archive", archiveOf(t, "word/document.xml", wordHead, "word/embeddings/a.docx", string(report)), Word, extract.Damaged, "before"},
		{"archive of other things", archiveOf(t, "a.txt", "text"), None, extract.Whole, ""},
		{"HTML", []byte("<html>"), None, extract.Whole, ""},
		{"empty", nil, None, extract.Whole, ""},
		{"cells that repeat", archiveOf(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml",
			strings.Repeat(`<table table:name="t"><table:table-row table:number-rows-repeated="9999999"><table:table-cell table:number-columns-repeated="9999999"><text:p>wide</text:p></table:table-cell></table:table-row>`, 50)), Spreadsheet, extract.Whole, "t\nwide"},
		{"RTF that ends early", []byte(`{\rtf1 some {\b text`), RTF, extract.Damaged, "some text"},
		{"RTF of groups alone", []byte(`{\rtf1 some` + strings.Repeat("{", 1<<20)), RTF, extract.TooCostly, "some"},
		{"RTF with a number too large", []byte(`{\rtf1 a\bin99999999999999999999 \u-99999 \par}`), RTF, extract.Damaged, "a"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := Read(c.body, o)
		runtime.ReadMemStats(&after)
		if got.Kind != c.kind && c.outcome != extract.Encrypted || got.Outcome != c.outcome || !strings.HasPrefix(got.Text, c.text) || c.text == "" && got.Text != "" {
			t.Errorf("%s: %q, outcome %q, want %q and %q; text %.80q", c.name, got.Kind, got.Outcome, c.kind, c.outcome, got.Text)
		}
		if len(got.Text) > o.MaxTextBytes {
			t.Errorf("%s: %d bytes of text", c.name, len(got.Text))
		}
		// One token is held at a time: what a part without end takes is bounded by that.
		if allocated := after.TotalAlloc - before.TotalAlloc; strings.HasPrefix(c.name, "one ") && allocated > 64*maxTokenBytes {
			t.Errorf("%s: %d bytes allocated", c.name, allocated)
		}
	}
}

// The directory of an archive counts as far as the bounds of its entries.
func TestDirectoryIsBounded(t *testing.T) {
	entry := []byte(directoryHeader + strings.Repeat("\x00", directoryBytes-4-18) + "\x01" + strings.Repeat("\x00", 17) + "a")
	var b bytes.Buffer
	b.WriteString(localHeader + strings.Repeat("\x00", localBytes-4))
	at := b.Len()
	for range 200_000 {
		b.Write(entry)
	}
	size := b.Len() - at
	b.WriteString(directoryEnd + "\x00\x00\x00\x00\x01\x00\x01\x00")
	for _, n := range []int{size, at} {
		b.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	}
	b.WriteString("\x00\x00")
	if allocated := testing.AllocsPerRun(1, func() { openArchive(b.Bytes(), 1<<20) }); allocated > 2*maxParts {
		t.Errorf("%.0f allocations", allocated)
	}
}
