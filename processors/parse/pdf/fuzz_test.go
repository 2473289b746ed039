package pdf

import (
	"testing"
	"unicode/utf8"
)

// Whatever the bytes are, reading ends, within its bounds, and what it finds is text.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"report.pdf", "talk.pdf", "encrypted.pdf"} {
		f.Add(load(f, name))
	}
	f.Add(build(catalog, onePage, page, stream("", shown), font))
	o := options()
	f.Fuzz(func(t *testing.T, body []byte) {
		d := read(t, shared, body)
		if len(d.Text) > o.MaxTextBytes+o.MaxPages || len(d.Links) > o.MaxLinks || len(d.Headings) > o.MaxHeadings || d.Pages < 0 {
			t.Fatalf("%d bytes, %d links, %d headings, %d pages", len(d.Text), len(d.Links), len(d.Headings), d.Pages)
		}
		texts := []string{d.Text, d.Title, d.Author, d.Description, d.Keywords, d.Language, d.Created, d.Modified}
		for _, l := range d.Links {
			texts = append(texts, l.URL, l.Text)
		}
		for _, h := range d.Headings {
			texts = append(texts, h.Text)
		}
		for _, s := range texts {
			if !utf8.ValidString(s) {
				t.Fatalf("%q is no text", s)
			}
		}
	})
}
