package markup

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Decoded returns a text as UTF-8: by its byte order mark, or by the encoding that an XML
// declaration names.
func Decoded(r io.Reader) io.Reader {
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
	declaration, _, found := bytes.Cut(head, []byte("?>"))
	if !found || !bytes.HasPrefix(bytes.TrimSpace(declaration), []byte("<?xml")) {
		return text
	}
	name := strings.ToLower(Token{attrs: string(declaration)}.Attr("encoding"))
	encoding, known := charset.Lookup(name)
	if encoding == nil || known == "utf-8" || strings.HasPrefix(known, "utf-16") { // its bytes are not UTF-16
		return text
	}
	return transform.NewReader(text, encoding.NewDecoder())
}
