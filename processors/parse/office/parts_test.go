package office

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// relationsPart is a part of relations: of their kind and target in turn. A kind that ends with "!" is external. The
// ids are r0, r1 and so on.
func relationsPart(pairs ...string) string {
	var b strings.Builder
	b.WriteString(`<Relationships>`)
	for i := 0; i < len(pairs); i += 2 {
		kind, external := strings.CutSuffix(pairs[i], "!")
		mode := ""
		if external {
			mode = ` TargetMode="External"`
		}
		b.WriteString(`<Relationship Id="r` + string(rune('0'+i/2)) + `" Type="http://x/` + kind + `" Target="` + pairs[i+1] + `"` + mode + `/>`)
	}
	return b.String() + `</Relationships>`
}

// The parts of a file have the names that its relations say, and any prefix may stand for the namespace of relations.
func TestNamesOfParts(t *testing.T) {
	word := archiveOf(t,
		"_rels/.rels", relationsPart("officeDocument", "word/document2.xml", "core-properties", "package/services/metadata/core-properties/1f.psmdcp"),
		"package/services/metadata/core-properties/1f.psmdcp", `<coreProperties><dc:title>Looms</dc:title></coreProperties>`,
		"word/_rels/document2.xml.rels", relationsPart("styles", "styles2.xml", "footnotes", "footnotes2.xml", "endnotes", "/word/endnotes2.xml"),
		"word/styles2.xml", `<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>`,
		"word/document2.xml", `<w:document><w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Warp</w:t></w:r></w:p></w:document>`,
		"word/footnotes2.xml", `<w:footnotes><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnotes>`,
		"word/endnotes2.xml", `<w:endnotes><w:p><w:r><w:t>the end</w:t></w:r></w:p></w:endnotes>`)
	excel := archiveOf(t,
		"_rels/.rels", relationsPart("officeDocument", "/xl/workbook.xml"),
		"xl/workbook.xml", `<workbook xmlns:ns0="y"><sheets><sheet name="One" sheetId="1" ns0:id="r0"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", relationsPart("worksheet", "worksheets/a.xml", "sharedStrings", "strings1.xml", "styles", "styles7.xml"),
		"xl/strings1.xml", `<sst><si><t>shared</t></si></sst>`,
		"xl/styles7.xml", `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`,
		"xl/worksheets/a.xml", `<worksheet><row><c t="s"><v>0</v></c><c s="0"><v>45351</v></c></row></worksheet>`)
	want := &Document{Kind: Word}
	want.Title, want.Text, want.Headings = "Looms", "Warp\na note\nthe end", []extract.Heading{{Level: 1, Text: "Warp"}}
	if diff := cmp.Diff(want, Read(word, options())); diff != "" {
		t.Error(diff)
	}
	if got := Read(excel, options()); got.Text != "One\nshared\t2024-02-29" || got.Outcome != extract.Whole {
		t.Errorf("%q, %q", got.Text, got.Outcome)
	}
}

// sheetOf is a file of Excel with one row of cells.
func sheetOf(t *testing.T, styles, shared, cells string) []byte {
	return archiveOf(t,
		"xl/workbook.xml", `<workbook><sheets><sheet name="One" r:id="r0"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", relationsPart("worksheet", "worksheets/sheet1.xml"),
		"xl/sharedStrings.xml", `<sst>`+shared+`</sst>`,
		"xl/styles.xml", `<styleSheet>`+styles+`</styleSheet>`,
		"xl/worksheets/sheet1.xml", `<worksheet><row>`+cells+`</row></worksheet>`)
}

// A cell holds what XML cannot as an escape.
func TestEscapesOfCells(t *testing.T) {
	body := sheetOf(t, "", `<si><t>one_x000D_&#10;two</t></si><si><t>_x005F_x000D_ is_x00e9__xZZZZ_</t></si>`,
		`<c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is><t>a_x0009_b</t></is></c><c t="str"><v>c_x000A_d</v></c>`)
	if got, want := Read(body, options()).Text, "One\none two\t_x000D_ isé_xZZZZ_\ta b\tc d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Formats of dates in other languages have numbers and no code, unless the file says what the number means.
func TestDatesOfOtherLanguages(t *testing.T) {
	styles := `<numFmts><numFmt numFmtId="58" formatCode="0.0"/></numFmts><cellXfs>`
	cells := ""
	for i, id := range []string{"31", "57", "58", "81", "59", "37"} {
		styles += `<xf numFmtId="` + id + `"/>`
		cells += `<c s="` + string(rune('0'+i)) + `"><v>45351</v></c>`
	}
	got := Read(sheetOf(t, styles+`</cellXfs>`, "", cells), options()).Text
	if want := "One\n2024-02-29\t2024-02-29\t45351\t2024-02-29\t45351\t45351"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Hidden text and pronunciations of Word are not shown, and a picture may be a link.
func TestWhatWordShows(t *testing.T) {
	body := archiveOf(t,
		"word/_rels/document.xml.rels", relationsPart("hyperlink!", "https://example.com/picture"),
		"word/document.xml", `<w:document><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>shown</w:t></w:r>`+
			`<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val="false"/></w:rPr><w:t>, too</w:t></w:r></w:p>`+
			`<w:p><w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>`+
			`<w:p><w:r><w:drawing><wp:docPr id="7"><a:hlinkClick r:id="r0"/></wp:docPr></w:drawing></w:r></w:p></w:document>`)
	got := Read(body, options())
	if diff := cmp.Diff([]extract.Link{{URL: "https://example.com/picture"}}, got.Links); diff != "" || got.Text != "shown, too\n漢字" {
		t.Errorf("%q\n%s", got.Text, diff)
	}
}

// Time that passed is no date.
func TestDurationsOfCells(t *testing.T) {
	styles := `<numFmts><numFmt numFmtId="164" formatCode="[hh]:mm:ss"/><numFmt numFmtId="165" formatCode="[Red][h]:mm"/></numFmts>` +
		`<cellXfs><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="46"/></cellXfs>`
	cells := `<c s="0"><v>1.25</v></c><c s="1"><v>-0.5</v></c><c s="2"><v>1e300</v></c><c s="2"><v>0.000011574</v></c>`
	if got, want := Read(sheetOf(t, styles, "", cells), options()).Text, "One\n30:00:00\t-12:00:00\t1e300\t0:00:01"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A program cuts the text of a link into runs, by spelling and by language.
func TestLinkOfSeveralRuns(t *testing.T) {
	run := func(id, text string) string {
		if id != "" {
			id = `<a:rPr><a:hlinkClick r:id="` + id + `"/></a:rPr>`
		}
		return `<a:r>` + id + `<a:t>` + text + `</a:t></a:r>`
	}
	body := archiveOf(t,
		"ppt/presentation.xml", `<p><sldId id="7" r:id="r0"/></p>`,
		"ppt/_rels/presentation.xml.rels", relationsPart("slide", "slides/slide1.xml"),
		"ppt/slides/_rels/slide1.xml.rels", relationsPart("hyperlink!", "https://example.com/a", "hyperlink!", "https://example.com/b", "hyperlink!", "https://example.com/c"),
		"ppt/slides/slide1.xml", `<p:sld><p:sp><p:cNvPr><a:hlinkClick r:id="r2"/></p:cNvPr><a:p>`+run("", "see ")+run("r0", "the ")+run("r0", "pa")+run("r0", "ge")+
			run("r1", "next")+run("", " end")+`<a:endParaRPr><a:hlinkClick r:id="r0"/></a:endParaRPr></a:p></p:sp></p:sld>`)
	got := Read(body, options())
	want := []extract.Link{{URL: "https://example.com/c"}, {URL: "https://example.com/a", Text: "the page"}, {URL: "https://example.com/b", Text: "next"}}
	if diff := cmp.Diff(want, got.Links); diff != "" || got.Text != "see the pagenext end" {
		t.Errorf("%q\n%s", got.Text, diff)
	}
}
