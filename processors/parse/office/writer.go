package office

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// writer makes the text of a document: a line for each paragraph, and a form feed between
// pages. White space is folded as in a page.
type writer struct {
	opts  *Options
	doc   *Document
	text  []byte
	full  bool
	space bool // a space is due before the next letter
	line  byte // what separates the next letter from the last: '\n', '\f', '\t', or 0

	heading, headingFrom int // level of the open heading, 0 for none
	link                 string
	linkFrom             int
	seen                 map[string]bool
}

func newWriter(opts *Options, doc *Document) *writer {
	return &writer{opts: opts, doc: doc, seen: map[string]bool{}}
}

func (w *writer) isFull() bool { return w.full }

// add adds text, which may be a part of a word.
func (w *writer) add(text string) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			w.space = true
			continue
		}
		if r == utf8.RuneError || r < ' ' || r == 0xad || r == 0xfeff {
			continue
		}
		w.separate()
		if len(w.text)+utf8.RuneLen(r) > w.opts.MaxTextBytes {
			w.full, w.doc.TextTruncated = true, true
			return
		}
		w.text = utf8.AppendRune(w.text, r)
	}
}

// separate writes the white space that is due in front of a letter.
func (w *writer) separate() {
	due := w.line
	if due == 0 && w.space {
		due = ' '
	}
	w.line, w.space = 0, false
	if due != 0 && len(w.text) > 0 && len(w.text) < w.opts.MaxTextBytes {
		w.text = append(w.text, due)
	}
}

// cell, block and page end a cell, a paragraph and a page.
func (w *writer) cell()  { w.end('\t') }
func (w *writer) block() { w.end('\n') }
func (w *writer) page()  { w.end('\f') }

func (w *writer) end(by byte) {
	if rank(by) > rank(w.line) {
		w.line = by
	}
}

func rank(separator byte) int { return strings.IndexByte("\x00\t\n\f", separator) }

// since returns the text from a place on, on one line.
func (w *writer) since(from, most int) string {
	if from > len(w.text) {
		return ""
	}
	return extract.Bound(strings.Join(strings.Fields(string(w.text[from:])), " "), most)
}

func (w *writer) beginHeading(level int) { w.heading, w.headingFrom = level, len(w.text) }

func (w *writer) endHeading() {
	if w.heading > 0 && len(w.doc.Headings) < w.opts.MaxHeadings {
		if text := w.since(w.headingFrom, w.opts.MaxFieldBytes); text != "" {
			w.doc.Headings = append(w.doc.Headings, extract.Heading{Level: min(w.heading, 6), Text: text})
		}
	}
	w.heading = 0
}

func (w *writer) beginLink(url string) {
	w.endLink()
	w.link, w.linkFrom = url, len(w.text)
}

func (w *writer) endLink() {
	if w.link != "" {
		w.addLink(w.link, w.since(w.linkFrom, w.opts.MaxAnchorBytes))
	}
	w.link = ""
}

// addLink adds a link to a page of the web. It ignores links to mail addresses, files and places in
// the document.
func (w *writer) addLink(url, text string) {
	url = strings.TrimSpace(strings.ToValidUTF8(url, ""))
	if at, hash := strings.IndexByte(url, ':'), strings.IndexAny(url, "/?#"); at >= 0 && (hash < 0 || at < hash) {
		if scheme := strings.ToLower(url[:at]); scheme != "http" && scheme != "https" {
			return
		}
	}
	switch {
	case url == "" || url[0] == '#' || w.seen[url]:
	case len(url) > w.opts.MaxHrefBytes || len(w.doc.Links) >= w.opts.MaxLinks:
		w.doc.LinksOmitted++
	default:
		w.seen[url] = true
		w.doc.Links = append(w.doc.Links, extract.Link{URL: url, Text: text})
	}
}

// finish puts the text into the document.
func (w *writer) finish() {
	w.endLink()
	w.endHeading()
	w.doc.Text = string(w.text)
}
