package document

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// Names of encodings for which the standards have rules of their own.
const (
	nameUTF8        = "utf-8"
	nameWindows1252 = "windows-1252"
)

type hint struct {
	// label is the charset of the Content-Type, contentLanguage the header field.
	label, contentLanguage string
	// domain is the last label of the host, lower case.
	domain    string
	plain     bool // the body is not markup, and declares nothing
	xml       bool // the Content-Type says XHTML: meta elements declare nothing
	truncated bool // the body was cut, perhaps within a character
}

// decode returns the body as valid UTF-8 without byte order mark, and the WHATWG name of its
// encoding. If decoding changes no byte, the result is the body itself and not a copy.
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
	// The decoders replace what they cannot read by U+FFFD. Other errors concern readers and short
	// buffers, which Bytes does not have.
	text, err := decoderOf(name).Bytes(body)
	if err != nil || !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text, name
}

// determine returns the name of the encoding, and the length of the byte order mark. The
// encoding is the first that one of these says: the byte order mark, the Content-Type, a
// declaration near the beginning (prescan), UTF-8 if the bytes are valid UTF-8, a meta element
// further down in the head (lateDeclaration), and the letters (guess).
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
	// Valid UTF-8 wins over a late declaration: long preambles in English are common, and text
	// that is valid UTF-8 by chance is not.
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
	// charset.Lookup trims all white space of Unicode, and folds its capitals. The standard
	// does that for ASCII only.
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

// asciiIsItself reports whether bytes below 0x80 decode to themselves. In the WHATWG list only
// four encodings are different.
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
	return slices.IndexFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

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

// decoderOf returns the decoder of the encoding with a WHATWG name. It is the one of
// golang.org/x/text, except where the Encoding Standard differs.
func decoderOf(name string) *encoding.Decoder {
	switch name {
	case "gbk":
		// Encoding Standard 10.1.1: they differ in what they write.
		return simplifiedchinese.GB18030.NewDecoder()
	case "iso-8859-8-i":
		// Encoding Standard 9: it differs in the direction of the text.
		return decoderOf("iso-8859-8")
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		panic("parse: no encoding has the name " + name)
	}
	if table, ok := enc.(*charmap.Charmap); ok {
		return &encoding.Decoder{Transformer: singleByte{table}}
	}
	return enc.NewDecoder()
}

// singleByte decodes by the indexes of the Encoding Standard (section 9). If a byte from 0x80
// to 0x9F is not a character of the encoding, it is the control with that number.
type singleByte struct{ table *charmap.Charmap }

func (singleByte) Reset() {}

func (d singleByte) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for _, b := range src {
		if b < utf8.RuneSelf {
			if nDst == len(dst) {
				return nDst, nSrc, transform.ErrShortDst
			}
			dst[nDst] = b
			nDst++
			nSrc++
			continue
		}
		r := d.table.DecodeByte(b)
		if r == utf8.RuneError && b < 0xA0 {
			r = rune(b)
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc++
	}
	return nDst, nSrc, nil
}
