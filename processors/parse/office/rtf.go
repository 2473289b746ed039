package office

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

const rtfMagic = `{\rtf`

func isRTF(body []byte) bool { return bytes.HasPrefix(body, []byte(rtfMagic)) }

// maxGroups bounds the groups that are open at a time. Programs write about 20.
const maxGroups = 1000

// readRTF reads RTF (1.9.1): the text without headers, footers, pictures, and deleted or hidden
// text.
func readRTF(body []byte, o *Options, doc *Document) {
	r := &rtf{body: body, opts: o, doc: doc, w: newWriter(o, doc), page: 1252, fonts: map[int]int{}, headings: map[int]int{}, group: group{unicodeSkip: 1}}
	r.read()
	r.w.finish()
	doc.Created, doc.Modified = r.created.String(), r.modified.String()
}

// rtf is the state of reading.
type rtf struct {
	body []byte
	at   int
	opts *Options
	doc  *Document
	w    *writer

	group
	groups []group
	// page is the code page of the document, fonts are the code pages of its fonts.
	page  int
	fonts map[int]int
	font  int // the font that is being defined
	// defaultFont is the font of a text without another one.
	defaultFont int
	// raw is text in a code page that is not decoded yet, as text of rawPage.
	raw     []byte
	rawPage int
	high    rune // the first half of a character of UTF-16
	level   int  // of the paragraph, as a heading
	// headings are the levels of styles, style is the style that is being defined.
	headings map[int]int
	style    int
	linked   int // groups that are open where the link began
	// field is the text of a destination that is not shown.
	field             []byte
	instruction       string
	created, modified rtfTime
}

// group is what a group changes until its end.
type group struct {
	// destination says where text goes; empty: into the document.
	destination string
	hidden      bool
	font        int
	unicodeSkip int
}

// skipped is a destination that is not read.
const skipped = "skipped"

type rtfTime struct{ year, month, day, hour, minute int }

func (t rtfTime) String() string {
	if t.year == 0 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d", t.year, t.month, t.day, t.hour, t.minute)
}

func (r *rtf) read() {
	for r.at < len(r.body) && !r.w.full {
		c := r.body[r.at]
		r.at++
		switch c {
		case '{':
			if len(r.groups) >= maxGroups {
				r.doc.Outcome = extract.TooCostly
				return
			}
			r.flush()
			r.groups = append(r.groups, r.group)
		case '}':
			r.flush()
			r.close()
			if len(r.groups) == 0 {
				return // what follows is not part of the document
			}
		case '\\':
			r.control()
		case '\r', '\n', 0:
		default:
			r.byte(c)
		}
	}
	r.flush()
	if !r.w.full {
		r.doc.Outcome = extract.Damaged // it ends within a group
	}
}

// close ends a group.
func (r *rtf) close() {
	last := len(r.groups) - 1
	if last < 0 {
		return
	}
	ended := r.destination
	r.group, r.groups = r.groups[last], r.groups[:last]
	if ended == "fldrslt" && len(r.groups) < r.linked {
		r.w.endLink()
		r.linked = 0
	}
	if ended == "stylesheet" {
		r.endStyle()
	}
	if ended == r.destination || ended == skipped { // a skipped group within a field, such as the datafield of Word, adds nothing
		return
	}
	text := extract.OneLine(string(r.field), r.opts.MaxFieldBytes)
	r.field = r.field[:0]
	d := r.doc
	switch ended {
	case "title":
		d.Title = text
	case "author":
		first(&d.Author, text) // LibreOffice writes who changed it last behind who made it
	case "subject":
		first(&d.Description, text)
	case "doccomm":
		d.Description = text
	case "keywords":
		d.Keywords = text
	case "fldinst":
		r.instruction = text
	}
}

// endStyle notes a style that is one of headings. Programs keep the English names of these styles, and
// some of them do not write the level of a paragraph.
func (r *rtf) endStyle() {
	name := strings.ToLower(strings.TrimSpace(string(r.field)))
	r.field = r.field[:0]
	if number, ok := strings.CutPrefix(name, "heading "); ok && len(r.headings) < 10_000 {
		if level, err := strconv.Atoi(strings.TrimSuffix(number, ";")); err == nil && level > 0 && level < 10 {
			r.headings[r.style] = level
		}
	}
}

// control reads a control word or symbol.
func (r *rtf) control() {
	if r.at >= len(r.body) {
		return
	}
	c := r.body[r.at]
	if !isLetter(c) {
		r.at++
		r.symbol(c)
		return
	}
	from := r.at
	for r.at < len(r.body) && isLetter(r.body[r.at]) && r.at-from < 32 {
		r.at++
	}
	word := string(r.body[from:r.at])
	from = r.at
	if r.at < len(r.body) && r.body[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.body) && r.body[r.at] >= '0' && r.body[r.at] <= '9' && r.at-from < 11 {
		r.at++
	}
	number, err := strconv.Atoi(string(r.body[from:r.at]))
	has := err == nil
	if r.at < len(r.body) && r.body[r.at] == ' ' {
		r.at++
	}
	if word != "u" {
		r.flush()
	}
	r.word(word, number, has)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (r *rtf) symbol(c byte) {
	switch c {
	case '\'':
		if r.at+2 <= len(r.body) {
			if code, err := strconv.ParseUint(string(r.body[r.at:r.at+2]), 16, 8); err == nil {
				r.at += 2
				r.byte(byte(code))
			}
		}
	case '*':
		r.destination = skipped // unless the word that follows is known
	case '~':
		r.flush()
		r.text(" ")
	case '_':
		r.flush()
		r.text("-")
	case '\\', '{', '}':
		r.byte(c)
	case '\r', '\n':
		r.flush()
		r.paragraph()
	}
}

// destinations are the destinations that are read, and those without a star that are not read.
var destinations = map[string]string{
	"info": "info", "title": "title", "author": "author", "subject": "subject", "keywords": "keywords", "doccomm": "doccomm",
	"creatim": "creatim", "revtim": "revtim", "fldinst": "fldinst", "fldrslt": "fldrslt", "fonttbl": "fonttbl",
	"footnote": "", "shptxt": "", "shpinst": "shpinst",
	"stylesheet": "stylesheet", "upr": "upr", "ud": "ud", "colortbl": skipped, "pict": skipped, "object": skipped, "header": skipped, "headerl": skipped, "headerr": skipped,
	"headerf": skipped, "footer": skipped, "footerl": skipped, "footerr": skipped, "footerf": skipped, "annotation": skipped,
	"filetbl": skipped, "listtable": skipped, "listtext": skipped, "operator": skipped, "company": skipped, "manager": skipped,
	"category": skipped, "comment": skipped, "printim": skipped, "nonshppict": skipped, "tc": skipped, "xe": skipped, "rxe": skipped,
	"falt": skipped, "panose": skipped, "sp": skipped,
}

func (r *rtf) word(word string, number int, has bool) {
	if to, known := destinations[word]; known && (r.destination != skipped || to != skipped && r.starred()) {
		if r.destination == "upr" { // what ud says again in Unicode
			to = skipped
		}
		r.destination = to
		switch {
		case to == "fldrslt":
			r.result()
		case to == "" && word == "shptxt": // a box beside the text
			r.w.block()
		case to == "" && word == "footnote": // in the middle of it
			r.w.add(" ")
		}
		return
	}
	switch word {
	case "bin":
		r.at = min(r.at+max(number, 0), len(r.body))
	case "s":
		if r.destination == "stylesheet" {
			r.style = number
		} else if level := r.headings[number]; level > 0 && r.shown() {
			r.beginHeading(level)
		}
	case "ansicpg":
		r.page = number
	case "mac":
		r.page = 10000
	case "deff":
		r.defaultFont, r.group.font = number, number
	case "f":
		if r.destination == "fonttbl" {
			r.font = number
		}
		r.group.font = number
	case "fcharset":
		if page, known := charsets[number]; known && len(r.fonts) < 10_000 {
			r.fonts[r.font] = page
		}
	case "uc":
		r.unicodeSkip = max(min(number, 16), 0)
	case "u":
		r.unicode(number)
	case "yr", "mo", "dy", "hr", "min":
		r.time(word, number)
	case "nofpages":
		r.doc.Pages = max(min(number, 1<<31-1), 0)
	case "v", "deleted":
		r.hidden = !has || number != 0
	case "plain":
		r.hidden, r.group.font = false, r.defaultFont
	default:
		if r.shown() {
			r.layout(word, number)
		}
	}
}

// starred tells whether the skipped group has just begun, with \*.
func (r *rtf) starred() bool {
	return len(r.groups) > 0 && r.groups[len(r.groups)-1].destination != skipped
}

// shown tells whether text goes into the document.
func (r *rtf) shown() bool { return (r.destination == "" || r.destination == "fldrslt") && !r.hidden }

// layout reads what separates text.
func (r *rtf) layout(word string, number int) {
	switch word {
	case "par", "line", "page", "sect", "column", "cell", "nestcell", "row", "nestrow":
		r.paragraph()
	case "tab":
		r.w.add(" ")
	case "pard":
		r.level = 0
		r.w.heading = 0
	case "outlinelevel":
		if number >= 0 && number < 9 {
			r.beginHeading(number + 1)
		}
	default:
		r.w.add(symbols[word])
	}
}

func (r *rtf) beginHeading(level int) {
	r.level = level
	r.w.beginHeading(level)
}

var symbols = map[string]string{
	"emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
}

func (r *rtf) paragraph() {
	if !r.shown() {
		return
	}
	r.w.endHeading()
	r.w.block()
	if r.level > 0 {
		r.w.beginHeading(r.level)
	}
}

// result begins the text of a field.
func (r *rtf) result() {
	if url := hyperlinkField(r.instruction); url != "" {
		r.w.beginLink(url)
		r.linked = len(r.groups)
	}
	r.instruction = ""
}

func (r *rtf) time(word string, number int) {
	t := &r.created
	switch r.destination {
	case "creatim":
	case "revtim":
		t = &r.modified
	default:
		return
	}
	number = max(min(number, 9999), 0)
	switch word {
	case "yr":
		t.year = number
	case "mo":
		t.month = number
	case "dy":
		t.day = number
	case "hr":
		t.hour = number
	case "min":
		t.minute = number
	}
}

// byte takes a byte of text in the code page of its font.
func (r *rtf) byte(c byte) {
	if r.destination == skipped {
		return
	}
	page := r.page
	if own, known := r.fonts[r.group.font]; known && r.shown() {
		page = own
	}
	if page != r.rawPage {
		r.flush()
		r.rawPage = page
	}
	r.raw = append(r.raw, c)
}

// flush decodes the text that was taken.
func (r *rtf) flush() {
	if len(r.raw) == 0 {
		return
	}
	raw := r.raw
	r.raw = r.raw[:0]
	if !slices.ContainsFunc(raw, func(c byte) bool { return c >= utf8.RuneSelf }) {
		r.text(string(raw))
		return
	}
	label := pages[r.rawPage]
	if label == "" {
		label = "windows-" + strconv.Itoa(r.rawPage)
	}
	encoding, _ := charset.Lookup(label)
	if encoding == nil {
		encoding, _ = charset.Lookup("windows-1252")
	}
	if text, err := encoding.NewDecoder().Bytes(raw); err == nil {
		r.text(string(text))
	}
}

// text puts text where it goes.
func (r *rtf) text(text string) {
	switch r.destination {
	case "", "fldrslt":
		if !r.hidden {
			r.w.add(text)
		}
	case "title", "author", "subject", "doccomm", "keywords", "fldinst", "stylesheet":
		if len(r.field) < 4*r.opts.MaxFieldBytes+maxInstruction {
			r.field = append(r.field, text...)
		}
	}
}

const maxInstruction = 8 << 10

// unicode takes a character, and skips the text that replaces it in programs without Unicode.
func (r *rtf) unicode(number int) {
	r.flush()
	unit := rune(uint16(number))
	switch {
	case unit >= 0xd800 && unit < 0xdc00:
		r.high = unit
	case unit >= 0xdc00 && unit < 0xe000:
		if r.high != 0 {
			r.text(string((r.high-0xd800)<<10 + (unit - 0xdc00) + 0x10000))
		}
		r.high = 0
	default:
		r.text(string(unit))
	}
	for left := r.unicodeSkip; left > 0 && r.at < len(r.body); left-- {
		switch c := r.body[r.at]; {
		case c == '{' || c == '}':
			return
		case c == '\\' && r.at+4 <= len(r.body) && r.body[r.at+1] == '\'':
			r.at += 4
		case c == '\\' && r.at+2 <= len(r.body) && strings.IndexByte(`~_-\{}`, r.body[r.at+1]) >= 0: // a symbol counts as a character
			r.at += 2
		case c == '\\':
			return
		default:
			r.at++
		}
	}
}

// charsets are the code pages of \fcharset.
var charsets = map[int]int{
	0: 1252, 77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250,
}

// pages are the names of code pages that are not "windows-" and their number.
var pages = map[int]string{
	932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 10000: "macintosh", 65001: "utf-8", 866: "ibm866", 1361: "euc-kr",
}
