package office

import (
	"errors"
	"strconv"
	"strings"
)

func readRelations(in *metered, of string) (map[string]relation, error) {
	found := map[string]relation{}
	err := visit(in, visitor{start: func(name string, attrs attributes) {
		if name != "Relationship" {
			return
		}
		kind := attrs.get("Type")
		rel := relation{kind: kind[strings.LastIndexByte(kind, '/')+1:], target: attrs.get("Target"), external: attrs.get("TargetMode") == "External"}
		if !rel.external {
			rel.target = within(of, rel.target)
		}
		found[attrs.get("Id")] = rel
	}}, func() bool { return len(found) > maxRelations })
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

// rootRelations are what the file itself refers to.
func rootRelations(a *archive) map[string]relation {
	in, err := a.open("_rels/.rels")
	if err != nil {
		return nil
	}
	found, _ := readRelations(in, "")
	return found
}

// partOf is the part of a kind among relations, the first by name; empty: there is none.
func partOf(relations map[string]relation, kind string) (part string) {
	for _, rel := range relations {
		if rel.kind == kind && !rel.external && (part == "" || rel.target < part) {
			part = rel.target
		}
	}
	return part
}

// mainPart is the name of the part that a file of Office begins with; empty: it has no such part.
func mainPart(a *archive) string { return partOf(rootRelations(a), "officeDocument") }

// main is the part that the file begins with.
func (r *reader) main(usual string) string {
	return r.part(rootRelations(r.a), "officeDocument", usual)
}

// part is the part of a kind among relations, or the usual one. Programs choose the names: Word on the web has
// styles2.xml, and .NET has the properties in package/services/metadata.
func (r *reader) part(relations map[string]relation, kind, usual string) string {
	if part := partOf(relations, kind); part != "" && r.a.has(part) {
		return part
	}
	return usual
}

// properties reads the metadata of a file of Office (ECMA-376 part 2, section 8).
func (r *reader) properties() {
	root := rootRelations(r.a)
	r.fields(r.part(root, "core-properties", "docProps/core.xml"), func(element, text string) {
		d := r.doc
		switch element {
		case "title":
			first(&d.Title, text)
		case "creator":
			first(&d.Author, text)
		case "subject":
			if d.Description == "" {
				d.Description = text
			}
		case "description":
			d.Description = text
		case "keywords":
			first(&d.Keywords, text)
		case "language":
			first(&d.Language, text)
		case "created":
			first(&d.Created, text)
		case "modified":
			first(&d.Modified, text)
		}
	})
	r.fields(r.part(root, "extended-properties", "docProps/app.xml"), func(element, text string) {
		if element == "Pages" || element == "Slides" {
			if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<31 {
				r.doc.Pages = n
			}
		}
	})
}

// word reads a file of Word (ECMA-376 part 1, section 17): the text of the document with its
// tables and text boxes, and then footnotes and endnotes. Deleted and hidden text, comments, headers and
// footers do not count.
func (r *reader) word() {
	r.properties()
	main := r.main("word/document.xml")
	relations := r.relations(main)
	levels := r.headingStyles(r.part(relations, "styles", within(main, "styles.xml")))
	notes := r.part(relations, "footnotes", within(main, "footnotes.xml"))
	for _, part := range []string{main, notes, r.part(relations, "endnotes", within(main, "endnotes.xml"))} {
		if part != main && !r.a.has(part) {
			continue
		}
		p := paragraphs{reader: r, levels: levels, relations: r.relations(part)}
		if !r.visit(part, visitor{start: p.start, end: p.end, text: p.text, skip: wordSkips}) {
			return
		}
		r.w.block()
	}
}

var wordSkips = map[string]bool{
	"Fallback": true, // a Choice in front of it has the same in a newer form
	"moveFrom": true, "del": true, "delText": true, "rPrChange": true, "pPrChange": true, "tabs": true,
	"rt": true, // the pronunciation of a text
}

// headingStyles are the levels of the styles of headings, by their ids. The ids depend on the
// language of the program.
func (r *reader) headingStyles(part string) map[string]int {
	levels := map[string]int{}
	style := ""
	r.try(part, visitor{start: func(name string, attrs attributes) {
		switch name {
		case "style":
			style = attrs.get("styleId")
		case "name":
			if level, ok := strings.CutPrefix(strings.ToLower(attrs.get("val")), "heading "); ok {
				if n, err := strconv.Atoi(level); err == nil && n >= 1 && n <= 9 && len(levels) < 1000 {
					levels[style] = n
				}
			}
		}
	}})
	return levels
}

// paragraphs reads the paragraphs of a part of Word.
type paragraphs struct {
	*reader
	levels    map[string]int
	relations map[string]relation

	inText, inField bool
	hidden          bool   // the run is not shown
	field           []byte // the instruction of a field
}

func (p *paragraphs) start(name string, attrs attributes) {
	w := p.w
	switch name {
	case "p":
		w.block()
	case "pStyle":
		if level := p.levels[attrs.get("val")]; level > 0 {
			w.beginHeading(level)
		}
	case "r":
		p.hidden = false
	case "vanish":
		val := attrs.get("val")
		p.hidden = val != "0" && val != "false" && val != "off"
	case "t":
		p.inText = !p.hidden
	case "tab", "ptab":
		w.add(" ")
	case "br", "cr":
		w.block()
	case "noBreakHyphen":
		w.add("-")
	case "hyperlink":
		if rel := p.relations[attrs.get("id")]; rel.external {
			w.beginLink(rel.target)
		}
	case "hlinkClick": // of a picture
		if rel := p.relations[attrs.relation()]; rel.external {
			w.addLink(rel.target, "")
		}
	case "fldSimple":
		w.beginLink(hyperlinkField(attrs.get("instr")))
	case "instrText":
		p.inField = true
	case "fldChar":
		switch attrs.get("fldCharType") {
		case "begin":
			p.field = p.field[:0]
		case "separate":
			if url := hyperlinkField(string(p.field)); url != "" {
				w.beginLink(url)
			}
			p.field = p.field[:0]
		case "end":
			w.endLink()
		}
	}
}

func (p *paragraphs) end(name string) {
	switch name {
	case "p":
		p.w.endHeading()
		p.w.block()
	case "t":
		p.inText = false
	case "instrText":
		p.inField = false
	case "hyperlink", "fldSimple":
		p.w.endLink()
	}
}

func (p *paragraphs) text(text []byte) {
	switch {
	case p.inText:
		p.w.add(string(text))
	case p.inField && len(p.field)+len(text) < 16<<10:
		p.field = append(p.field, text...)
	}
}

// hyperlinkField returns the URL of the instruction of a field, HYPERLINK "https://…"; empty: it is
// another instruction.
func hyperlinkField(instruction string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(instruction), "HYPERLINK")
	if !ok {
		return ""
	}
	rest = strings.TrimSpace(rest)
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		url, _, _ := strings.Cut(quoted, `"`)
		return url
	}
	url, _, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(url, `\`) { // a switch: a place in the document
		return ""
	}
	return url
}

// powerPoint reads a file of PowerPoint (ECMA-376 part 1, section 19): the text of the slides in
// their order, without notes and without the text of their masters.
func (r *reader) powerPoint() {
	r.properties()
	main := r.main("ppt/presentation.xml")
	relations := r.relations(main)
	var slides []string
	r.visit(main, visitor{start: func(name string, attrs attributes) {
		if name == "sldId" && len(slides) < maxPages {
			if rel := relations[attrs.relation()]; rel.kind == "slide" {
				slides = append(slides, rel.target)
			}
		}
	}})
	if len(slides) > 0 {
		r.doc.Pages = len(slides)
	}
	for _, slide := range slides {
		r.w.page()
		s := slideReader{reader: r, relations: r.relations(slide)}
		if !r.visit(slide, visitor{start: s.start, end: s.end, text: s.text, skip: slideSkips}) {
			return
		}
	}
}

// maxPages bounds the slides or sheets of a file that are read.
const maxPages = 10_000

var slideSkips = map[string]bool{"Fallback": true, "fld": true}

// slideReader reads a slide.
type slideReader struct {
	*reader
	relations          map[string]relation
	inText, title      bool
	inParagraph, inRun bool
	link               string // of the run
}

func (s *slideReader) start(name string, attrs attributes) {
	switch name {
	case "ph":
		kind := attrs.get("type")
		s.title = kind == "title" || kind == "ctrTitle"
	case "p":
		s.inParagraph = true
		s.w.block()
		if s.title {
			s.w.beginHeading(1)
		}
	case "br":
		s.w.block()
	case "r":
		s.inRun, s.link = true, ""
	case "t":
		s.inText = true
		if s.link != s.w.link { // a link may have several runs
			s.w.beginLink(s.link)
		}
	case "hlinkClick":
		rel := s.relations[attrs.relation()]
		switch {
		case !rel.external:
		case s.inRun:
			s.link = rel.target
		case !s.inParagraph: // of a shape
			s.w.addLink(rel.target, "")
		}
	}
}

func (s *slideReader) end(name string) {
	switch name {
	case "p":
		s.inParagraph = false
		s.w.endLink()
		s.w.endHeading()
		s.w.block()
	case "t":
		s.inText = false
	case "r":
		s.inRun = false
	case "sp":
		s.title = false
	}
}

func (s *slideReader) text(text []byte) {
	if s.inText {
		s.w.add(string(text))
	}
}
