package robots

import "strings"

// ProductToken is the name by which a user agent goes in robots.txt (RFC 9309
// section 2.2.1): what a User-Agent header starts with, or what follows
// "(compatible; " when the header starts with another's name. A token is its
// own token.
func ProductToken(userAgent string) string {
	if _, after, ok := strings.Cut(userAgent, "(compatible; "); ok {
		if token := leadingToken(after); token != "" {
			return token
		}
	}
	return leadingToken(strings.TrimSpace(userAgent))
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
