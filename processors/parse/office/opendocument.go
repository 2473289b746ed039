package office

import (
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// openDocument reads a file of OpenDocument 1.x: text with its tables, sheets as shown, slides
// without notes. Comments and deleted text do not count.
func (r *reader) openDocument() {
	encrypted := false
	r.try("META-INF/manifest.xml", visitor{start: func(name string, _ attributes) {
		encrypted = encrypted || name == "encryption-data"
	}})
	r.try("meta.xml", visitor{start: func(name string, attrs attributes) {
		if name == "document-statistic" {
			r.doc.Pages, _ = strconv.Atoi(attrs.get("page-count"))
			r.doc.Pages = max(min(r.doc.Pages, 1<<31-1), 0)
		}
	}})
	creator := ""
	r.fields("meta.xml", func(element, text string) {
		d := r.doc
		switch element {
		case "title":
			first(&d.Title, text)
		case "initial-creator":
			first(&d.Author, text)
		case "creator": // who changed it last
			first(&creator, text)
		case "description":
			d.Description = text
		case "subject":
			first(&d.Description, text)
		case "keyword":
			r.join(&d.Keywords, text)
		case "language":
			first(&d.Language, text)
		case "creation-date":
			first(&d.Created, text)
		case "date":
			first(&d.Modified, text)
		}
	})
	first(&r.doc.Author, creator)
	if encrypted {
		r.doc.Outcome = extract.Encrypted
		return
	}
	f := flow{reader: r}
	r.visit("content.xml", visitor{start: f.start, end: f.end, text: f.text, skip: flowSkips})
	if f.pages > 0 {
		r.doc.Pages = f.pages
	}
}

var flowSkips = map[string]bool{
	"tracked-changes": true, "annotation": true, "note-citation": true, "notes": true, "ruby-text": true, "scripts": true, "font-face-decls": true,
	"automatic-styles": true, "master-styles": true, "index-source": true, "table-of-content-source": true, "desc": true, "shapes": true,
	"page-number": true, "dde-source": true, "forms": true, "object-index-source": true, "user-index-source": true, "alphabetical-index-source": true,
}

// flow is the contents of a file of OpenDocument.
type flow struct {
	*reader
	pages int
	depth int // of paragraphs
	// repeat is how often a cell is repeated, and row how often its row is; from are where they
	// begin.
	repeat, row       int
	cellFrom, rowFrom int
	inSheet           bool
	title             bool // the frame has the title of a slide
}

// maxRepeats bounds how often a repeated cell or row is written.
const maxRepeats = 256

func (f *flow) start(name string, attrs attributes) {
	w := f.w
	switch name {
	case "p":
		f.depth++
		f.line()
		if f.title {
			w.beginHeading(1)
		}
	case "frame":
		f.title = attrs.get("class") == "title"
	case "h":
		f.depth++
		f.line()
		level, _ := strconv.Atoi(attrs.get("outline-level"))
		w.beginHeading(max(level, 1))
	case "s", "tab":
		w.add(" ")
	case "line-break":
		f.line()
	case "a":
		w.beginLink(attrs.get("href"))
	case "page":
		f.pages++
		w.page()
	case "table":
		if f.doc.Kind == Spreadsheet {
			f.inSheet = true
			f.pages++
			w.page()
			w.add(attrs.get("name"))
			w.block()
		}
	case "table-row":
		w.block()
		f.row, f.rowFrom = repeats(attrs.get("number-rows-repeated")), len(w.text)
	case "table-cell", "covered-table-cell":
		f.repeat, f.cellFrom = repeats(attrs.get("number-columns-repeated")), len(w.text)
		if f.inSheet {
			w.cell()
		}
	}
}

func repeats(attr string) int {
	n, err := strconv.Atoi(attr)
	if err != nil {
		return 1
	}
	return max(min(n, maxRepeats), 1)
}

func (f *flow) end(name string) {
	w := f.w
	switch name {
	case "p":
		f.depth--
		if f.title {
			w.endHeading()
		}
		f.line()
	case "frame":
		f.title = false
	case "h":
		f.depth--
		w.endHeading()
		f.line()
	case "a":
		w.endLink()
	case "table-cell", "covered-table-cell":
		f.again(f.cellFrom, f.repeat, w.cell)
	case "table-row":
		f.again(f.rowFrom, f.row, w.block)
		w.block()
	}
}

// line ends a line. In a sheet each row is a line, so the lines of a cell are parted by spaces.
func (f *flow) line() {
	if f.inSheet {
		f.w.add(" ")
	} else {
		f.w.block()
	}
}

// again repeats the cell or the row from a place on. In a document each cell is a line, in a sheet it is not.
func (f *flow) again(from, times int, separate func()) {
	if !f.inSheet || from >= len(f.w.text) {
		return
	}
	text := string(f.w.text[from:])
	for range times - 1 {
		separate()
		for cell := range strings.SplitSeq(text, "\t") {
			f.w.add(cell)
			f.w.cell()
		}
	}
}

func (f *flow) text(text []byte) {
	if f.depth > 0 {
		f.w.add(string(text))
	}
}
