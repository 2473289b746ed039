package office

import (
	"testing"
	"unicode/utf8"
)

// Whatever the bytes are, reading ends, within its bounds, and what it finds is text.
func FuzzRead(f *testing.F) {
	for _, file := range []string{
		"report.docx", "report.odt", "report.rtf", "report.epub", "numbers.xlsx", "numbers.ods", "talk.odp", "python.epub", "python.xlsx", "encrypted.docx",
	} {
		f.Add(load(f, file), 1000)
	}
	f.Add([]byte(`{\rtf1{\field{\*\fldinst HYPERLINK "x"}{\fldrslt y\outlinelevel0\par}}\'e4\u8364?}`), 10)
	f.Fuzz(func(t *testing.T, body []byte, text int) {
		check(t, body, text)
	})
}

// The XML in a file is not reached through its compression by chance.
func FuzzParts(f *testing.F) {
	f.Add("mimetype", "application/vnd.oasis.opendocument.text", "content.xml", `<text:h text:outline-level="2"><text:a xlink:href="https://h/">x</text:a></text:h>`)
	f.Add("xl/workbook.xml", `<sheet r:id="a" name="n"/>`, "xl/_rels/workbook.xml.rels", `<Relationship Id="a" Type="x/worksheet" Target="workbook.xml"/>`)
	f.Add("word/document.xml", `<w:p><w:pStyle w:val="a"/><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK x</w:instrText>`, "word/styles.xml", `<style styleId="a"><name val="heading 1"/>`)
	f.Add("ppt/presentation.xml", `<sldId r:id="a"/>`, "ppt/_rels/presentation.xml.rels", `<Relationship Id="a" Type="x/slide" Target="/ppt/presentation.xml"/>`)
	f.Add("META-INF/container.xml", `<rootfile full-path="a.opf"/>`, "a.opf", `<item id="a" href="a.opf" media-type="text/html"/><itemref idref="a"/><dc:title>T</dc:title>`)
	f.Fuzz(func(t *testing.T, name, content, other, more string) {
		if len(name) > 1<<15 || len(other) > 1<<15 {
			return
		}
		check(t, archiveOf(t, name, content, other, more), 1000)
	})
}

func check(t *testing.T, body []byte, text int) {
	t.Helper()
	o := options()
	o.MaxTextBytes = max(text%5000, 0)
	o.MaxUnpackedBytes = 1 << 20
	o.MaxLinks, o.MaxHeadings, o.MaxFieldBytes = 10, 10, 100
	d := Read(body, o)
	if len(d.Text) > o.MaxTextBytes || len(d.Links) > o.MaxLinks || len(d.Headings) > o.MaxHeadings || d.Pages < 0 {
		t.Fatalf("%d bytes, %d links, %d headings, %d pages", len(d.Text), len(d.Links), len(d.Headings), d.Pages)
	}
	texts := []string{d.Text, d.Title, d.Author, d.Description, d.Keywords, d.Language, d.Created, d.Modified}
	for _, field := range texts[1:] {
		if len(field) > o.MaxFieldBytes {
			t.Fatalf("a field of %d bytes", len(field))
		}
	}
	for _, l := range d.Links {
		texts = append(texts, l.URL, l.Text)
	}
	for _, h := range d.Headings {
		texts = append(texts, h.Text)
		if h.Level < 1 || h.Level > 6 {
			t.Fatalf("level %d", h.Level)
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Fatalf("%q is no text", s)
		}
	}
	Looks(body)
}
