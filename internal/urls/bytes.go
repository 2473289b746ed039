package urls

import (
	"strings"
	"unicode/utf8"
)

// class says what becomes of a byte of a URL.
type class uint8

const (
	keep    class = iota // stands for itself
	escape               // is percent-encoded
	stop                 // ends the component or the segment
	percent              // starts an escape, or stands for itself
	wide                 // is part of a character beyond ASCII
)

// pathClass and queryClass follow the path and the special-query
// percent-encode sets (https://url.spec.whatwg.org/#percent-encoded-bytes). A value with
// what valueClass keeps is one parameter, and no part of it is taken for an escape.
// hostClass keeps what a name may have (forbidden domain code point), in lower case.
var (
	pathClass  = classes("\"<>`{}^ ", `/?\`)
	queryClass = classes("\"#<>' ", "")
	valueClass = classes("\"#<>' %&+", "")
	hostClass  = classes(" ABCDEFGHIJKLMNOPQRSTUVWXYZ", `#/:<>?@[\]^|`)
)

// classes makes a table in which printable ASCII is kept, except "%" and the named bytes.
func classes(escaped, stops string) (table [256]class) {
	for c := range table {
		switch {
		case c >= utf8.RuneSelf:
			table[c] = wide
		case c < ' ', c == 0x7f, strings.IndexByte(escaped, byte(c)) >= 0:
			table[c] = escape
		case strings.IndexByte(stops, byte(c)) >= 0:
			table[c] = stop
		case c == '%':
			table[c] = percent
		}
	}
	return table
}

// appendEscaped appends what stands before the first stop of s, escaped as the table
// says, and gives the rest of s from the stop on. Bytes that are not UTF-8 become
// U+FFFD, one each. Escapes of unreserved characters are decoded, and the others are
// written in upper case (RFC 3986 section 6.2.2).
//
// A "%" that does not start an escape stays as it is, and decoding must not make an
// escape of it: "%%36%31" does not become "%61", which the next parse would decode to
// "a".
func appendEscaped(b []byte, s string, table *[256]class) (out []byte, rest string) {
	bare := len(b) // where in b the last "%" without an escape stands
	kept := 0      // s[kept:i] is waiting to be appended as it is
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch table[c] {
		case keep:
			continue
		case stop:
			return append(b, s[kept:i]...), s[i:]
		case escape:
			b = AppendEscape(append(b, s[kept:i]...), c)
		case wide:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = appendRune(append(b, s[kept:i]...), r)
			i += size - 1
		case percent:
			c, ok := Unescape(s[i:])
			b = append(b, s[kept:i]...)
			if !ok {
				bare = len(b)
				b = append(b, '%')
				break
			}
			if IsUnreserved(c) && !(hexDigit(c) < 16 && mayBecomeEscape(b[bare:])) {
				b = append(b, c)
			} else {
				b = AppendEscape(b, c)
			}
			i += len("%XX") - 1
		}
		kept = i + 1
	}
	return append(b, s[kept:]...), ""
}

// mayBecomeEscape reports whether s is "%" and at most one hexadecimal digit.
func mayBecomeEscape(s []byte) bool {
	return len(s) > 0 && s[0] == '%' && (len(s) == 1 || len(s) == 2 && hexDigit(s[1]) < 16)
}

// IsUnreserved reports whether an escape of c means the same as c (RFC 3986
// section 2.3).
func IsUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

// Unescape reads the escape, "%XX", that s starts with. ok is false if there is none.
func Unescape(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, low := hexDigit(s[1]), hexDigit(s[2])
	return high<<4 | low, high < 16 && low < 16
}

// hexDigit is the value of a hexadecimal digit, 255 for any other byte.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// AppendEscape appends the escape of c, "%XX" in upper case.
func AppendEscape(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[c>>4], digits[c&15])
}

// appendRune appends the escapes of the bytes of r.
func appendRune(b []byte, r rune) []byte {
	for _, c := range utf8.AppendRune(make([]byte, 0, utf8.UTFMax), r) {
		b = AppendEscape(b, c)
	}
	return b
}
