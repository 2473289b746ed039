// Package office reads files of office programs as pages: Word, Excel and PowerPoint since
// 2007 (docx, xlsx, pptx), OpenDocument (odt, ods, odp), EPUB, and RTF.
//
// It is pure and never fails: it reads what it can of a damaged file. Except RTF, a file is a zip
// archive of XML. A hostile archive or XML can grow without end, so only what a page needs is kept:
// the archive is read from the body itself, Options.MaxUnpackedBytes bounds all that is unpacked,
// XML is read without a tree and without entities, and a file within a file is not opened. Document
// says what becomes of hostile files.
package office

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"strings"
	"unicode/utf16"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Kind is the format of a file.
type Kind string

// Formats. None: the file has another format.
const (
	None         Kind = ""
	Word         Kind = "docx"
	Excel        Kind = "xlsx"
	PowerPoint   Kind = "pptx"
	Text         Kind = "odt"
	Spreadsheet  Kind = "ods"
	Presentation Kind = "odp"
	EPUB         Kind = "epub"
	RTF          Kind = "rtf"
)

// Document has the contents of a file. Dates and links are as written. The text has a line for each
// paragraph or row. Headings are paragraphs with the style of a heading. A file is TooCostly if it
// unpacks to more than Options.MaxUnpackedBytes, or has a tag or a text of more than 256 KiB.
type Document struct {
	Kind Kind
	// Foreign: the file says that it has another format, such as that of Office before 2007, xlsb or a drawing.
	Foreign bool
	extract.Document
}

// Chapter is a file of HTML within a book.
type Chapter struct {
	Text      string
	Truncated bool
	Headings  []extract.Heading
	Links     []extract.Link
}

// Options bound a Document.
type Options struct {
	extract.Bounds
	// MaxUnpackedBytes bounds the sum of all that is unpacked of a file. A tag counts as 12 bytes at
	// least.
	MaxUnpackedBytes int64
	// Chapter reads a file of HTML within a book.
	Chapter func(html []byte) Chapter
}

// MaxUnpackedBytes is the bound of the loop. A file of a megabyte of text unpacks to 10 to 20
// MB; reading takes about a second for each 30 MB.
const MaxUnpackedBytes = 32 << 20

// reader reads one file.
type reader struct {
	opts *Options
	a    *archive
	doc  *Document
	w    *writer
}

// Looks tells the kind of a file by its first bytes and the names of its parts.
func Looks(body []byte) Kind {
	switch {
	case isRTF(body):
		return RTF
	case isZip(body):
		return kindOf(openArchive(body, 64<<10))
	}
	return None
}

// IsContainer tells whether a file that claims to be of one of the formats may be so: it is a zip
// archive, RTF, or the container of an encrypted file of Office.
func IsContainer(body []byte) bool {
	return isZip(body) || isRTF(body) || bytes.HasPrefix(body, []byte(oleMagic))
}

// oleMagic begins a file of Office before 2007, and an encrypted one since.
const oleMagic = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// isEncryptedPackage tells whether a file is the container of an encrypted file ([MS-OFFCRYPTO]
// 2.3): a stream of that name is in its directory.
func isEncryptedPackage(body []byte) bool {
	var name []byte
	for _, unit := range utf16.Encode([]rune("EncryptedPackage")) {
		name = append(name, byte(unit), byte(unit>>8))
	}
	return bytes.HasPrefix(body, []byte(oleMagic)) && bytes.Contains(body, name)
}

// mimetypes are the contents of the part mimetype, which every file of these formats has.
var mimetypes = []struct {
	prefix string
	kind   Kind
}{
	{"application/vnd.oasis.opendocument.text", Text},
	{"application/vnd.oasis.opendocument.spreadsheet", Spreadsheet},
	{"application/vnd.oasis.opendocument.presentation", Presentation},
	{"application/epub+zip", EPUB},
}

func kindOf(a *archive) Kind {
	if said, err := a.whole("mimetype", 256); err == nil {
		for _, m := range mimetypes {
			if strings.HasPrefix(strings.TrimSpace(string(said)), m.prefix) {
				return m.kind
			}
		}
	}
	switch {
	case a.has("META-INF/container.xml"):
		return EPUB
	case a.has("word/document.xml"):
		return Word
	case a.has("xl/workbook.xml"):
		return Excel
	case a.has("ppt/presentation.xml"):
		return PowerPoint
	}
	if main := mainPart(a); main != "" {
		switch {
		case strings.HasPrefix(main, "word/"):
			return Word
		case strings.HasPrefix(main, "xl/") && strings.HasSuffix(main, ".xml"):
			return Excel
		case strings.HasPrefix(main, "ppt/"):
			return PowerPoint
		}
	}
	return None
}

// Read reads a file. The kind is None if the file has another format.
func Read(body []byte, o Options) *Document {
	doc := &Document{}
	if isRTF(body) {
		doc.Kind = RTF
		readRTF(body, &o, doc)
		return doc
	}
	if isEncryptedPackage(body) {
		doc.Outcome = extract.Encrypted
		return doc
	}
	if !isZip(body) {
		doc.Foreign = bytes.HasPrefix(body, []byte(oleMagic))
		return doc
	}
	r := &reader{opts: &o, a: openArchive(body, o.MaxUnpackedBytes), doc: doc}
	r.w = newWriter(&o, doc)
	if r.a.cut {
		doc.Outcome = extract.Damaged
	}
	doc.Kind = kindOf(r.a)
	switch doc.Kind {
	case Word:
		r.word()
	case Excel:
		r.excel()
	case PowerPoint:
		r.powerPoint()
	case Text, Spreadsheet, Presentation:
		r.openDocument()
	case EPUB:
		r.epub()
	case None:
		doc.Foreign = r.a.has("mimetype") || mainPart(r.a) != ""
	}
	r.w.finish()
	return doc
}

// visit reads a part that the file should have.
func (r *reader) visit(name string, v visitor) bool {
	in, err := r.a.open(name)
	if err == nil {
		err = visit(in, v, r.w.isFull)
	}
	return r.note(err)
}

// try reads a part that the file may have. A file without it is whole.
func (r *reader) try(name string, v visitor) {
	if r.a.has(name) {
		r.visit(name, v)
	}
}

// note records the result of reading a part, and tells whether to go on.
func (r *reader) note(err error) bool {
	switch {
	case err == nil, errors.Is(err, errStop):
	case errors.Is(err, errTooCostly):
		r.doc.Outcome = extract.TooCostly
		return false
	case errors.Is(err, errEncrypted):
		r.doc.Outcome = extract.Encrypted
		return false
	case r.doc.Outcome == extract.Whole:
		r.doc.Outcome = extract.Damaged
	}
	return !r.w.full
}

// fields reads a part of metadata: the texts of its elements by name, or by their attribute
// property if they have one.
func (r *reader) fields(name string, set func(element, text string)) {
	var text []byte
	property := ""
	r.try(name, visitor{
		start: func(_ string, attrs attributes) { text, property = text[:0], attrs.get("property") },
		text: func(more []byte) {
			text = append(text, more[:min(len(more), max(8*r.opts.MaxFieldBytes-len(text), 0))]...)
		},
		end: func(element string) {
			if value := extract.OneLine(string(text), r.opts.MaxFieldBytes); value != "" {
				set(cmp.Or(property, element), value)
			}
			text, property = text[:0], ""
		},
	})
}

// join adds one of several values to a field.
func (r *reader) join(field *string, value string) {
	if *field != "" {
		value = *field + ", " + value
	}
	*field = extract.Bound(value, r.opts.MaxFieldBytes)
}

// first sets a field that has no value.
func first(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// relation is what a part refers to.
type relation struct {
	kind, target string
	external     bool
}

// maxRelations bounds the relations of a part.
const maxRelations = 20_000

// relations reads what a part of a file of Office refers to, by id (ECMA-376 part 2, section
// 6.5). Targets that are parts are their names.
func (r *reader) relations(of string) map[string]relation {
	if !r.a.has(relationsOf(of)) {
		return nil
	}
	in, err := r.a.open(relationsOf(of))
	if err != nil {
		r.note(err)
		return nil
	}
	found, err := readRelations(in, of)
	r.note(err)
	return found
}

func relationsOf(part string) string {
	return path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
}

// within resolves a reference of a part to another part.
func within(part, ref string) string {
	if strings.HasPrefix(ref, "/") {
		return path.Clean(ref)[1:]
	}
	return strings.TrimPrefix(path.Join("/", path.Dir(part), ref), "/")
}
