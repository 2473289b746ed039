package robots

import "strings"

// Octets are compared after both sides are in one form (RFC 9309 section
// 2.2.2): what RFC 3986 calls neither reserved nor unreserved is
// percent-encoded in upper case, and what it calls unreserved is not.
//
// The apostrophe, which is reserved, is decoded too: URLs of browsers have it
// escaped in a query and plain in a path.

const hexDigits = "0123456789ABCDEF"

// normalize brings a path with query, or a pattern, into that form. Most are,
// and are returned as they are. The form is a fixed point: what follows a "%"
// that starts no escape is not decoded for two octets, or it could make one.
func normalize(s string) string {
	i := 0
	for i < len(s) && plain[s[i]] {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s)+16)
	copy(b, s)
	bare := -3 // where in b the last "%" without an escape stands
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case plain[c]:
			b = append(b, c)
		case c != '%':
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		case i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			octet := unhex(s[i+1])<<4 | unhex(s[i+2])
			if (unreserved(octet) || octet == '\'') && len(b)-bare > 2 {
				b = append(b, octet)
			} else {
				b = append(b, '%', hexDigits[octet>>4], hexDigits[octet&15])
			}
			i += 2
		default:
			bare = len(b)
			b = append(b, '%')
		}
	}
	return string(b)
}

// special decodes the escapes of the two characters that mean something in a
// pattern (RFC 9309 section 2.2.3). It is for what is not a pattern: a path,
// and the text between the wildcards of a pattern.
var special = strings.NewReplacer("%2A", "*", "%24", "$")

// literal is the form in which paths are matched with the text of patterns.
func literal(normal string) string {
	if strings.IndexByte(normal, '%') < 0 {
		return normal
	}
	return special.Replace(normal)
}

// separators decodes ":" and "/", which separate nothing in a query: the RFC's
// example has "?baz=https://foo.bar" match "?baz=https%3A%2F%2Ffoo.bar".
var separators = strings.NewReplacer("%3A", ":", "%2F", "/")

// separated decodes the separators in the query of a normal path.
func separated(normal string) string {
	query := strings.IndexByte(normal, '?')
	if query < 0 || strings.IndexByte(normal[query:], '%') < 0 {
		return normal
	}
	return normal[:query] + separators.Replace(normal[query:])
}

// plain are the octets that normalize leaves alone: reserved and unreserved,
// but not "%".
var plain = func() (table [256]bool) {
	for c := range table {
		table[c] = unreserved(byte(c)) || strings.IndexByte(":/?#[]@!$&'()*+,;=", byte(c)) >= 0
	}
	return table
}()

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// unhex is the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
