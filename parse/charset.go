package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const (
	nameUTF8 = "utf-8"
	// sniffBytes is how far into a document its declaration may stand (WHATWG
	// HTML, determining the character encoding).
	sniffBytes = 1024
)

// decode returns the body as valid UTF-8 without byte order mark, and the
// WHATWG name of the encoding it was read in. The result is the body itself,
// not a copy, where its bytes are what they would decode to.
//
// The encoding is, in this order: the byte order mark's, the Content-Type's,
// the one declared by a meta element or XML declaration, UTF-8 if the whole
// body is valid UTF-8 with a character beyond ASCII, windows-1252.
func decode(body []byte, contentType string, truncated bool) (text []byte, name string) {
	enc, name, mark := determine(body, contentType, truncated)
	body = body[mark:]
	if truncated && name == nameUTF8 {
		body = cutPartialRune(body)
	}
	switch {
	case name == nameUTF8:
		if utf8.Valid(body) {
			return body, name
		}
		enc = unicode.UTF8
	case asciiIsItself(name) && isASCII(body):
		return body, name
	}
	// The decoders replace what they cannot read by U+FFFD; an error would be
	// that of a reader or of a short buffer, which Bytes excludes.
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil || !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text, name
}

// determine returns the encoding, its name, and the length of the byte order
// mark.
func determine(body []byte, contentType string, truncated bool) (enc encoding.Encoding, name string, mark int) {
	if name, mark = byteOrderMark(body); mark > 0 {
		enc, name = charset.Lookup(name)
		return enc, name, mark
	}
	if label := parameter(contentType, "charset"); label != "" {
		if enc, name = charset.Lookup(label); enc != nil {
			return enc, name, 0
		}
	}
	// The header has had its say; what is left to x/net is the prescan for
	// meta elements and a guess from the first kilobyte.
	enc, name, _ = charset.DetermineEncoding(body, "")
	// What it looked up it wraps; only the last resort is the bare table.
	if enc != charmap.Windows1252 {
		return enc, name, 0
	}
	if label := xmlEncoding(body); label != "" {
		if e, n := charset.Lookup(label); e != nil {
			return e, n, 0
		}
	}
	// The whole body decides instead of its first kilobyte: long English
	// preambles are common, and text that is valid UTF-8 by chance is not.
	if truncated {
		body = cutPartialRune(body)
	}
	if !isASCII(body) && utf8.Valid(body) {
		return encoding.Nop, nameUTF8, 0
	}
	return enc, name, 0
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

// xmlEncoding returns the encoding label of an XML declaration at the start of
// the body, or "" (WHATWG HTML, get an XML encoding).
func xmlEncoding(body []byte) string {
	head, ok := bytes.CutPrefix(body[:min(len(body), sniffBytes)], []byte("<?xml"))
	if !ok {
		return ""
	}
	end := bytes.IndexByte(head, '>')
	if end < 0 {
		return ""
	}
	_, rest, ok := bytes.Cut(head[:end], []byte("encoding"))
	if !ok {
		return ""
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("="))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if !ok || len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, ok := bytes.Cut(rest[1:], rest[:1])
	if !ok || strings.HasPrefix(strings.ToLower(string(label)), "utf-16") {
		// A declaration that can be read byte by byte is not in UTF-16.
		return ""
	}
	return string(label)
}

// parameter returns a parameter of a media type, unquoted, or "". Unlike
// mime.ParseMediaType it makes do with what servers send: a broken parameter
// elsewhere does not hide the one asked for.
func parameter(mediaType, name string) string {
	_, rest, _ := strings.Cut(mediaType, ";")
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, ";")
		key, value, ok := strings.Cut(part, "=")
		if ok && strings.EqualFold(trimSpace(key), name) {
			return strings.Trim(trimSpace(value), `"'`)
		}
	}
	return ""
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

func isASCII(b []byte) bool {
	for len(b) >= 8 {
		if (b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7])&0x80 != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
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
