package robots

import (
	"cmp"
	"strings"
)

// ProductToken returns the name of a user agent in robots.txt (RFC 9309 section
// 2.2.1): the start of a User-Agent header; or, if that is a comment or the Mozilla
// of browsers, what follows "compatible; ". The token of a token is itself.
func ProductToken(userAgent string) string {
	token := leadingToken(strings.TrimSpace(userAgent))
	if token != "" && !strings.EqualFold(token, "Mozilla") {
		return token
	}
	_, after, _ := strings.Cut(userAgent, "compatible; ")
	return cmp.Or(leadingToken(after), token)
}

// leadingToken returns the start of s that can be a name. The RFC allows letters, "_"
// and "-"; names in use also have digits and dots.
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
