package office

import (
	"net/url"
	"strings"

	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/parse/extract"
)

// maxChapterBytes bounds a chapter of a book.
const maxChapterBytes = 4 << 20

// epub reads a book (EPUB 2 and 3): its metadata, and its chapters in reading order.
func (r *reader) epub() {
	main := ""
	r.try("META-INF/container.xml", visitor{start: func(name string, attrs attributes) {
		if name == "rootfile" && main == "" {
			main = within("", attrs.get("full-path"))
		}
	}})
	if main == "" {
		r.note(errMissing)
		return
	}
	chapters := r.book(main)
	locked := r.locked()
	for _, chapter := range chapters {
		if locked[partName(chapter)] {
			r.doc.Outcome = extract.Encrypted
			continue
		}
		html, err := r.a.whole(chapter, maxChapterBytes)
		if err == nil || len(html) > 0 {
			r.chapter(r.opts.Chapter(html))
		}
		if !r.note(err) {
			return
		}
	}
}

// bookTypes are the types of chapters besides HTML: those of DTBook, and of OEB, which EPUB 2 still permits (OPF
// 2.0.1, section 1.3.7).
var bookTypes = map[string]bool{"application/x-dtbook+xml": true, "text/x-oeb1-document": true}

// book reads the package of a book, and returns its chapters.
func (r *reader) book(main string) (chapters []string) {
	files, named := map[string]string{}, map[string]bool{}
	r.visit(main, visitor{start: func(name string, attrs attributes) {
		switch name {
		case "item":
			if kind := attrs.get("media-type"); len(files) < maxParts && (mediatype.IsHTML(kind) || bookTypes[kind]) {
				ref, _, _ := strings.Cut(attrs.get("href"), "#")
				if plain, err := url.PathUnescape(ref); err == nil {
					ref = plain
				}
				files[attrs.get("id")] = within(main, ref)
			}
		case "itemref":
			if file := files[attrs.get("idref")]; file != "" && attrs.get("linear") != "no" && len(chapters) < maxPages && !named[file] {
				named[file] = true // a second item may be a place in the same file
				chapters = append(chapters, file)
			}
		}
	}})
	r.fields(main, func(element, text string) {
		d := r.doc
		switch element {
		case "title":
			first(&d.Title, text)
		case "creator":
			r.join(&d.Author, text)
		case "description":
			first(&d.Description, extract.OneLine(extract.WithoutTags(text), r.opts.MaxFieldBytes))
		case "subject":
			r.join(&d.Keywords, text)
		case "language":
			first(&d.Language, text)
		case "date":
			first(&d.Created, text)
		case "dcterms:modified":
			first(&d.Modified, text)
		}
	})
	return chapters
}

// locked are the encrypted parts of a book. Books that can be read often have encrypted fonts.
func (r *reader) locked() map[string]bool {
	parts := map[string]bool{}
	r.try("META-INF/encryption.xml", visitor{start: func(name string, attrs attributes) {
		if name == "CipherReference" && len(parts) < maxParts {
			ref := attrs.get("URI")
			if plain, err := url.PathUnescape(ref); err == nil {
				ref = plain
			}
			parts[partName(ref)] = true
		}
	}})
	return parts
}

func (r *reader) chapter(c Chapter) {
	r.w.page()
	for line := range strings.Lines(c.Text) {
		r.w.add(line)
		r.w.block()
	}
	r.doc.TextTruncated = r.doc.TextTruncated || c.Truncated
	r.doc.Headings = append(r.doc.Headings, c.Headings[:min(len(c.Headings), max(r.opts.MaxHeadings-len(r.doc.Headings), 0))]...)
	for _, l := range c.Links {
		if strings.HasPrefix(l.URL, "http://") || strings.HasPrefix(l.URL, "https://") { // others are of the book
			r.w.addLink(l.URL, l.Text)
		}
	}
}
