// Package extract has the result of the readers of files (office, pdf), and keeps texts within
// bounds.
package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Outcome says why a file was not read whole.
type Outcome string

// Outcomes. The documentation of each reader says which files have them.
const (
	Whole Outcome = ""
	// Encrypted: it cannot be read without a password or a licence.
	Encrypted Outcome = "encrypted"
	// Damaged: a part is missing or broken. The Document has what could be read.
	Damaged Outcome = "damaged"
	// TooCostly: to read the file takes more than the reader's options permit. The Document has
	// what was read before.
	TooCostly Outcome = "too_costly"
)

// Document has the contents of a file. All strings are valid UTF-8, and fields are on one line.
type Document struct {
	Outcome Outcome

	Title, Description, Keywords, Author, Language string
	// Created is when it was made or published, Modified when it was last changed.
	Created, Modified string
	// Pages is the number of pages, slides or sheets; 0: the file does not say.
	Pages int

	// Text has a form feed between pages, slides, sheets and chapters.
	Text          string
	TextTruncated bool
	Headings      []Heading
	// Links are the links to the web, each once. LinksOmitted counts the links beyond the bounds.
	Links        []Link
	LinksOmitted int
}

// Heading is a heading, or an entry of the outline.
type Heading struct {
	Level int // 1 to 6
	Text  string
}

// Link is a link to the web.
type Link struct{ URL, Text string }

// Bounds of a Document. MaxLinks and MaxHeadings are numbers, the others are bytes.
type Bounds struct {
	MaxTextBytes, MaxLinks, MaxHrefBytes, MaxAnchorBytes, MaxHeadings, MaxFieldBytes int
}

// Bound makes a text valid UTF-8 of at most so many bytes.
func Bound(text string, most int) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// OneLine is Bound of a text folded to one line.
func OneLine(text string, most int) string {
	gap := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return Bound(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), gap), " "), most)
}
