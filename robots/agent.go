package robots

import (
	"cmp"
	"strings"
)

// ProductToken is the name by which a user agent goes in robots.txt (RFC 9309
// section 2.2.1): what a User-Agent header starts with or, where that is a
// comment or the Mozilla of browsers, what follows "compatible; ". A token is its
// own token.
func ProductToken(userAgent string) string {
	token := leadingToken(strings.TrimSpace(userAgent))
	if token != "" && !strings.EqualFold(token, "Mozilla") {
		return token
	}
	_, after, _ := strings.Cut(userAgent, "compatible; ")
	return cmp.Or(leadingToken(after), token)
}

// leadingToken is what of s can be a name. The RFC knows letters, "_" and "-";
// names in use have digits and dots too.
func leadingToken(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '.':
		default:
			return s[:i]
		}
	}
	return s
}
