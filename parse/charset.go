package parse

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// Names of encodings that the standards treat apart.
const (
	nameUTF8        = "utf-8"
	nameWindows1252 = "windows-1252"
)

// hint is what is known of a body besides its bytes.
type hint struct {
	// label is the charset of the Content-Type, contentLanguage the header field.
	label, contentLanguage string
	// domain is the last label of the host, lower case.
	domain string
	// plain: it is not markup, and declares nothing. xml: it is stated to be XHTML,
	// whose meta elements declare nothing either.
	plain, xml, truncated bool
}

// decode returns the body as valid UTF-8 without byte order mark, and the
// WHATWG name of the encoding it was read in. The result is the body itself,
// not a copy, where its bytes are what they would decode to.
//
// The encoding is, in this order: the byte order mark's, the Content-Type's,
// the one that a meta element or XML declaration declares (prescan), UTF-8 if the
// bytes are that, the one that a meta element further down in the head declares
// (lateDeclaration), and what the bytes look like (guess). In XHTML meta elements
// declare nothing.
func decode(body []byte, hint hint) (text []byte, name string) {
	name, mark := determine(body, hint)
	body = body[mark:]
	if hint.truncated && name == nameUTF8 {
		body = cutPartialRune(body)
	}
	switch {
	case name == nameUTF8 && utf8.Valid(body):
		return body, name
	case asciiIsItself(name) && isASCII(body):
		return body, name
	}
	// The decoders replace what they cannot read by U+FFFD; an error would be
	// that of a reader or of a short buffer, which Bytes excludes.
	text, err := decoderOf(name).Bytes(body)
	if err != nil || !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text, name
}

// determine returns the encoding, its name, and the length of the byte order
// mark.
func determine(body []byte, hint hint) (name string, mark int) {
	if name, mark = byteOrderMark(body); mark > 0 {
		return name, mark
	}
	if name = nameOfLabel(hint.label); name != "" {
		return name, 0
	}
	switch {
	case hint.plain:
	case hint.xml: // WHATWG HTML, the meta element's charset; XML 1.0, 4.3.3
		name = cmp.Or(unmarkedUTF16(body), xmlEncoding(body))
	default:
		name = prescan(body)
	}
	if name != "" {
		return name, 0
	}
	if hint.truncated {
		body = cutPartialRune(body)
	}
	// Long English preambles are common, and text that is valid UTF-8 by chance is
	// not: what is UTF-8 stays so, whatever is declared too late.
	if (hint.xml || !isASCII(body)) && utf8.Valid(body) {
		return nameUTF8, 0
	}
	if !hint.plain && !hint.xml {
		if name = lateDeclaration(body); name != "" {
			return name, 0
		}
	}
	return guess(body, hint), 0
}

// nameOfLabel returns the WHATWG name of the encoding with that label, lower
// case, or "" (Encoding Standard, get an encoding).
func nameOfLabel(label string) string {
	label = trimSpace(label)
	// The table trims and folds what Unicode takes for spaces and capitals.
	if !isASCII([]byte(label)) || strings.Contains(label, "\v") {
		return ""
	}
	_, name := charset.Lookup(label)
	return name
}

func byteOrderMark(body []byte) (name string, length int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return nameUTF8, 3
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return "utf-16be", 2
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return "utf-16le", 2
	}
	return "", 0
}

// asciiIsItself reports whether bytes below 0x80 decode to themselves. They do
// in every encoding of the WHATWG list but these.
func asciiIsItself(name string) bool {
	switch name {
	case "utf-16be", "utf-16le", "iso-2022-jp", "replacement":
		return false
	}
	return true
}

func isASCII(b []byte) bool { return firstBeyondASCII(b) < 0 }

// firstBeyondASCII returns where the first byte of 0x80 or more is, or -1.
func firstBeyondASCII(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := b[i : i+8 : i+8]
		if (w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7])&0x80 != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if b[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// cutPartialRune drops the beginning of a character at the end of b.
func cutPartialRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
