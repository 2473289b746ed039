package parse

import "strings"

// refreshURL returns the URL of a meta refresh ("5; url='next.html'") or a
// header field Refresh, or "" when the page only reloads itself (WHATWG HTML,
// shared declarative refresh steps).
func refreshURL(content string) string {
	s := trimLeftSpace(content)
	rest := strings.TrimLeft(s, "0123456789")
	if len(rest) == len(s) && !strings.HasPrefix(rest, ".") {
		return ""
	}
	// Whatever the fraction looks like, it is ignored.
	rest = strings.TrimLeft(rest, "0123456789.")
	if rest == "" || rest[0] != ';' && rest[0] != ',' && !isSpace(rest[0]) {
		return ""
	}
	s = trimLeftSpace(rest)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = trimLeftSpace(s[1:])
	}
	if len(s) >= len("url") && strings.EqualFold(s[:len("url")], "url") {
		after, ok := strings.CutPrefix(trimLeftSpace(s[len("url"):]), "=")
		if !ok {
			return trimSpace(s)
		}
		s = trimLeftSpace(after)
	} else if s != "" && s[0]|0x20 == 'u' {
		return trimSpace(s)
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return trimSpace(s)
}
