// Package pdf reads PDF as pages: text in the order of reading, title, author, dates, outline and
// links.
//
// The files are read by PDFium, which is Chromium's reader, as WebAssembly on wazero: without cgo,
// in a sandbox without files and network, with bounded memory and time. Each file has its own
// instance, so that nothing of a file is left for the next one, and an instance that a file breaks
// is thrown away. PDFium is compiled when the first file comes. Without a PDF it costs only 1.9 MB
// of the binary.
//
// Dates have the form of RFC 3339, with the parts that the file has, or are as written. The
// headings are the outline that programs show beside the pages. The links are the links that can be
// clicked. A file that cannot be opened has 0 pages. Files that are protected without a password
// are read. A file is TooCostly if it takes more time, memory or pages than Options permit.
//
// A Reader is safe for concurrent use. Read does not fail: see extract.Outcome.
package pdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/processors/parse/extract"
)

// Options bound a Document, and the cost of reading it.
type Options struct {
	extract.Bounds

	// MaxPages is how many pages are read, MaxTime how much CPU time that may take, and MaxMemory how
	// many bytes of memory a file may take, itself included.
	MaxPages  int
	MaxTime   time.Duration
	MaxMemory int
}

// Defaults of the cost of reading.
const (
	MaxPages  = 5000
	MaxTime   = 15 * time.Second
	MaxMemory = 256 << 20
)

// Magic begins a PDF, within its first 1024 bytes.
const Magic = "%PDF-"

// Looks tells whether a body may be a PDF.
func Looks(body []byte) bool { return bytes.Contains(body[:min(len(body), 1024)], []byte(Magic)) }

// Reader reads PDF.
type Reader struct {
	opts   Options
	engine once
}

// New returns a Reader. It needs Close only after its first Read.
func New(opts Options) *Reader { return &Reader{opts: opts} }

// Close ends what the Reader holds. Files that are being read end as errors.
func (r *Reader) Close() error { return r.engine.close() }

// Read reads a file. It returns an error if ctx ends, or if PDFium cannot be made.
func (r *Reader) Read(ctx context.Context, body []byte) (*extract.Document, error) {
	e, err := r.engine.get(context.WithoutCancel(ctx), r.opts.MaxMemory)
	if err != nil {
		return nil, err
	}
	limited, end := timed(ctx, r.opts.MaxTime)
	defer end()
	f := file{instance: e.instance(limited), opts: &r.opts, doc: &extract.Document{}, seen: map[string]bool{}}
	defer f.close()
	f.read(body)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read a PDF: %w", ctx.Err())
	}
	switch {
	case f.err == nil:
	case errors.Is(f.err, errMemory), limited.Err() != nil, strings.Contains(f.err.Error(), "unreachable"):
		// If PDFium has no memory, it ends itself by the instruction unreachable.
		f.doc.Outcome = extract.TooCostly
	case f.doc.Outcome == extract.Whole:
		f.doc.Outcome = extract.Damaged
	}
	f.doc.Text = string(f.text)
	return f.doc, nil
}

// file is a file that is read.
type file struct {
	*instance
	opts     *Options
	doc      *extract.Document
	document uint64
	last     uint64 // the page that was read last

	text []byte
	seen map[string]bool // links
}

// Errors of FPDF_GetLastError.
const (
	errFormat   = 3
	errPassword = 4
	errSecurity = 5
)

func (f *file) read(body []byte) {
	cause := f.open(body)
	if cause == errFormat {
		if mended := withTrailer(body); mended != nil {
			cause = f.open(mended)
			f.doc.Outcome = extract.Damaged
		}
	}
	switch {
	case f.document != 0:
	case cause == errPassword || cause == errSecurity:
		f.doc.Outcome = extract.Encrypted
		return
	default:
		f.doc.Outcome = extract.Damaged
		return
	}
	d := f.doc
	d.Pages = max(f.number("FPDF_GetPageCount", f.document), 0)
	d.Title, d.Author, d.Description, d.Keywords = f.meta("Title"), f.meta("Author"), f.meta("Subject"), f.meta("Keywords")
	d.Created, d.Modified = date(f.meta("CreationDate")), date(f.meta("ModDate"))
	d.Language = f.field(f.number("FPDFCatalog_GetLanguage", f.document, uint64(f.scratch), scratchBytes))
	for i := range min(d.Pages, f.opts.MaxPages) {
		if i > 0 {
			f.text = append(f.text, '\f')
		}
		if f.page(i); f.err != nil || d.TextTruncated {
			break
		}
	}
	f.call("FPDF_ClosePage", f.last)
	if d.Pages > f.opts.MaxPages && !d.TextTruncated {
		d.TextTruncated, d.Outcome = true, extract.TooCostly
	}
	if strings.Trim(string(f.text), "\f") == "" { // pictures
		f.text = nil
	}
	f.outline(f.call("FPDFBookmark_GetFirstChild", f.document, 0), 1, new(int))
}

// open opens a file, or returns why it cannot be opened.
func (f *file) open(body []byte) (cause int) {
	at := f.put(body)
	if f.document = f.call("FPDF_LoadMemDocument", uint64(at), uint64(len(body)), 0); f.document != 0 {
		return 0
	}
	cause = f.number("FPDF_GetLastError")
	f.call("free", uint64(at))
	return cause
}

var (
	catalogType  = regexp.MustCompile(`/Type\s*/Catalog\b`)
	objectHeader = regexp.MustCompile(`(\d{1,10})[ \r\n]+(\d{1,5})[ \r\n]+obj\b`)
)

// withTrailer adds a trailer that names the catalog to a file whose end is missing. It returns nil if the file
// has no catalog. PDFium finds the objects of such a file, but not the first one. The object that is cut is left
// out: a bracket in its stream would begin a string, to PDFium, that has the trailer.
func withTrailer(body []byte) []byte {
	const endOfObject = "endobj"
	for _, at := range catalogType.FindAllIndex(body, maxCatalogs) {
		// The object's own beginning is the last one in front of its type. A stream may have the words of a catalog.
		front := body[max(at[0]-maxCatalogBytes, 0):at[0]]
		front = front[bytes.LastIndex(front, []byte(endOfObject))+1:]
		headers := objectHeader.FindAllSubmatchIndex(front, -1)
		if headers == nil {
			continue
		}
		last := headers[len(headers)-1]
		if bytes.Contains(front[last[1]:], []byte("stream")) {
			continue
		}
		if end := bytes.LastIndex(body, []byte(endOfObject)); end > at[0] {
			body = body[:end+len(endOfObject)]
		}
		number, generation := front[last[2]:last[3]], front[last[4]:last[5]]
		return fmt.Appendf(slices.Clip(body), "\ntrailer\n<</Root %s %s R>>\nstartxref\n0\n%%%%EOF\n", number, generation)
	}
	return nil
}

const (
	// maxCatalogBytes is how far the type of a catalog may be behind its beginning.
	maxCatalogBytes = 64 << 10
	// maxCatalogs bounds how many places are looked at that have the type of a catalog.
	maxCatalogs = 16
)

// field is a text in the scratch memory, whose size is in bytes, with the zero at its end.
func (f *file) field(bytes int) string {
	if bytes <= 2 || bytes > scratchBytes {
		return ""
	}
	return extract.OneLine(string(f.utf16(f.scratch, bytes/2)), f.opts.MaxFieldBytes)
}

func (f *file) meta(tag string) string {
	name := f.put(append([]byte(tag), 0))
	text := f.field(f.number("FPDF_GetMetaText", f.document, uint64(name), uint64(f.scratch), scratchBytes))
	f.call("free", uint64(name))
	return text
}

// page reads the page of that number, from 0.
func (f *file) page(number int) {
	page := f.call("FPDF_LoadPage", f.document, uint64(number))
	if page == 0 {
		if f.err == nil {
			f.doc.Outcome = extract.Damaged
		}
		return
	}
	text := f.call("FPDFText_LoadPage", page)
	if text != 0 {
		f.pageText(text)
	}
	f.links(page, text)
	if text != 0 {
		f.call("FPDFText_ClosePage", text)
	}
	// What pages share, fonts above all, stays in memory as long as a page with it is open.
	f.call("FPDF_ClosePage", f.last)
	f.last = page
}

// pageText takes the text of a page, piece by piece.
func (f *file) pageText(text uint64) {
	chars := f.number("FPDFText_CountChars", text)
	const most = scratchBytes/2 - 1
	w := lines{text: f.text, from: len(f.text), most: f.opts.MaxTextBytes}
	for from := 0; from < chars && f.err == nil && !w.full; from += most {
		n := f.number("FPDFText_GetText", text, uint64(from), uint64(min(most, chars-from)), uint64(f.scratch))
		w.add(f.utf16(f.scratch, n))
	}
	f.text, f.doc.TextTruncated = w.end(), w.full
}

// maxPageLinks bounds the links of a page that are read.
const maxPageLinks = 10_000

// links takes the links of a page.
func (f *file) links(page, text uint64) {
	position := f.scratch
	link := position + 4
	if f.err == nil && !f.module.Memory().WriteUint32Le(position, 0) {
		f.err = errMemory
	}
	for range maxPageLinks {
		if f.number("FPDFLink_Enumerate", page, uint64(position), uint64(link)) == 0 || f.err != nil {
			return
		}
		handle := uint64(binary.LittleEndian.Uint32(f.bytes(link, 4)))
		next := binary.LittleEndian.Uint32(f.bytes(position, 4))
		if action := f.call("FPDFLink_GetAction", handle); action != 0 {
			n := f.number("FPDFAction_GetURIPath", f.document, action, uint64(f.scratch), scratchBytes)
			if n > 1 && n <= scratchBytes {
				f.link(string(f.bytes(f.scratch, n-1)), handle, text)
			}
		}
		if f.err == nil {
			f.module.Memory().WriteUint32Le(position, next)
		}
	}
}

// link takes a link, with the text that is under it.
func (f *file) link(url string, handle, text uint64) {
	url = target(strings.TrimSpace(strings.ToValidUTF8(url, "")))
	switch {
	case url == "" || f.seen[url]:
		return
	case len(url) > f.opts.MaxHrefBytes || len(f.doc.Links) >= f.opts.MaxLinks:
		f.doc.LinksOmitted++
		return
	}
	f.seen[url] = true
	under := ""
	if text != 0 && f.number("FPDFLink_GetAnnotRect", handle, uint64(f.scratch)) != 0 {
		// The corners are floats, and doubles as arguments.
		args := []uint64{text}
		for corner := f.bytes(f.scratch, 16); len(corner) >= 4; corner = corner[4:] {
			args = append(args, math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(corner)))))
		}
		n := f.number("FPDFText_GetBoundedText", append(args, uint64(f.scratch), scratchBytes/2)...)
		under = extract.OneLine(string(f.utf16(f.scratch, min(n, scratchBytes/2))), f.opts.MaxAnchorBytes)
	}
	f.doc.Links = append(f.doc.Links, extract.Link{URL: url, Text: under})
}

// target is what a link leads to; empty: not to the web. A URL without a scheme is relative to the file (ISO
// 32000-1, section 12.6.4.7; PDFium has put the Base of the file in front of it). But what begins with "www." is a
// host, as in readers of PDF.
func target(url string) string {
	before, _, _ := strings.Cut(url, ":")
	switch scheme := strings.ToLower(before); {
	case scheme == "http" || scheme == "https":
		return url
	case strings.HasPrefix(scheme, "www."):
		return "http://" + url
	case url == "" || url[0] == '#' || url[0] == '\\' || before != url && !strings.ContainsAny(before, "/?#"):
		return ""
	}
	return url
}

// maxBookmarks bounds the entries of an outline that are read: the outline may be a circle.
const maxBookmarks = 10_000

// outline takes the entries of the outline from one on, and those below them.
func (f *file) outline(entry uint64, level int, seen *int) {
	for entry != 0 && f.err == nil && len(f.doc.Headings) < f.opts.MaxHeadings {
		if *seen++; *seen > maxBookmarks {
			return
		}
		if text := f.field(f.number("FPDFBookmark_GetTitle", entry, uint64(f.scratch), scratchBytes)); text != "" {
			f.doc.Headings = append(f.doc.Headings, extract.Heading{Level: level, Text: text})
		}
		if level < 6 {
			f.outline(f.call("FPDFBookmark_GetFirstChild", f.document, entry), level+1, seen)
		}
		entry = f.call("FPDFBookmark_GetNextSibling", f.document, entry)
	}
}
