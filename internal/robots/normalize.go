package robots

import (
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

// Octets are compared after both sides are in one form (RFC 9309 section
// 2.2.2): what RFC 3986 calls neither reserved nor unreserved is
// percent-encoded in upper case, and what it calls unreserved is not.
//
// The apostrophe, which is reserved, is decoded too: URLs of browsers have it
// escaped in a query and plain in a path.

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
		octet, escaped := urls.Unescape(s[i:])
		switch {
		case plain[s[i]]:
			b = append(b, s[i])
		case escaped:
			if (urls.IsUnreserved(octet) || octet == '\'') && len(b)-bare > 2 {
				b = append(b, octet)
			} else {
				b = urls.AppendEscape(b, octet)
			}
			i += len("%XX") - 1
		case s[i] == '%':
			bare = len(b)
			b = append(b, '%')
		default:
			b = urls.AppendEscape(b, s[i])
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
		table[c] = urls.IsUnreserved(byte(c)) || strings.IndexByte(":/?#[]@!$&'()*+,;=", byte(c)) >= 0
	}
	return table
}()
