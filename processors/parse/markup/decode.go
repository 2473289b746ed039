package markup

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Decoded returns a text as UTF-8: by its byte order mark, by the encoding that an XML declaration
// names, or by label, the charset of the Content-Type, which may be empty. The declaration comes
// first: the program that wrote the text knows more than the server that sends it. A label that
// means windows-1252, such as ISO-8859-1, changes nothing: it is the default of many servers, also
// for UTF-8, and Valid reads bytes that are not UTF-8 in this encoding.
func Decoded(r io.Reader, label string) io.Reader {
	text := bufio.NewReaderSize(r, 4096)
	head, _ := text.Peek(256)
	switch {
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return transform.NewReader(text, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder())
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = text.Discard(3)
		return text
	case bytes.HasPrefix(head, []byte{0, '<', 0, '?'}):
		return transform.NewReader(text, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder())
	case bytes.HasPrefix(head, []byte{'<', 0, '?', 0}):
		return transform.NewReader(text, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder())
	}
	stated, name := charset.Lookup(declared(head))
	switch {
	case strings.HasPrefix(name, "utf-16"): // its bytes are not UTF-16
		return text
	case stated == nil:
		stated, name = charset.Lookup(label)
		if name == "windows-1252" || strings.HasPrefix(name, "utf-16") && bytes.IndexByte(head, 0) < 0 {
			return text
		}
	}
	if stated == nil || name == "utf-8" || name == "replacement" {
		return text
	}
	return transform.NewReader(text, stated.NewDecoder())
}

// declared returns the encoding that the XML declaration at the beginning of a text names, as written. It is
// empty if there is no declaration, or if the declaration names no encoding.
func declared(head []byte) string {
	declaration, _, found := bytes.Cut(head, []byte("?>"))
	if !found || !bytes.HasPrefix(bytes.TrimSpace(declaration), []byte("<?xml")) {
		return ""
	}
	return Token{attrs: string(declaration)}.Attr("encoding")
}

// Valid returns a piece of a text as valid UTF-8. It reads bytes that are not UTF-8 as windows-1252, as
// browsers read a text of which they know nothing else (WHATWG Encoding, legacy encodings). libxml2, with which
// many crawlers read sitemaps, and feedparser do nearly the same: they read such bytes as ISO-8859-1 and
// windows-1252.
func Valid(piece string) string {
	if utf8.ValidString(piece) {
		return piece
	}
	var b strings.Builder
	for i, r := range piece {
		if r == utf8.RuneError && !strings.HasPrefix(piece[i:], "\uFFFD") {
			if r = charmap.Windows1252.DecodeByte(piece[i]); r == utf8.RuneError {
				r = rune(piece[i]) // WHATWG Encoding, index windows-1252
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
