package urls

// class says what fast does with a byte of a path or a query.
type class uint8

const (
	odd     class = iota // left to the full parser
	keep                 // stands for itself
	escape               // is percent-encoded
	stop                 // ends the component or the segment
	percent              // starts an escape
)

// pathClass and queryClass follow the path and the special-query
// percent-encode sets (https://url.spec.whatwg.org/#percent-encoded-bytes).
var (
	pathClass  = classes("\"<>`{}^ ", "/?#", "\\")
	queryClass = classes("\"<>' ", "#", "")
)

// classes makes a table in which printable ASCII is kept and other bytes of
// UTF-8 are escaped, but for the named ones. Controls are odd.
func classes(escaped, stops, odds string) (table [256]class) {
	for c := range table {
		switch {
		case c < ' ':
		case c < 0x7f:
			table[c] = keep
		default:
			table[c] = escape
		}
	}
	set := func(bytes string, to class) {
		for i := range len(bytes) {
			table[bytes[i]] = to
		}
	}
	set(escaped, escape)
	set(stops, stop)
	set(odds, odd)
	set("%", percent)
	return table
}

// isUnreserved reports whether an escape of c means the same as c (RFC 3986
// section 2.3).
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

// unescape reads the escape that s starts with.
func unescape(s string) (c byte, ok bool) {
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

func appendEscape(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[c>>4], digits[c&15])
}
