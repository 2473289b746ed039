package mediatype

import "strings"

// IsPattern tells whether a pattern is a media type in lower case without parameters, type/* or
// */* (media-range, RFC 9110 section 12.5.1).
func IsPattern(pattern string) bool {
	kind, sub, _ := strings.Cut(pattern, "/")
	if kind == "*" {
		return sub == "*"
	}
	if sub == "*" {
		sub = "any"
	}
	written := kind + "/" + sub
	t, ok := parse(written)
	return ok && t.Essence == written && !strings.Contains(sub, "*")
}

// Match tells whether a pattern has a media type.
func Match(pattern, essence string) bool {
	kind, ok := strings.CutSuffix(pattern, "*")
	return pattern == essence || pattern == "*/*" || ok && strings.HasPrefix(essence, kind)
}

// Lookup returns the value of the pattern that says most about a media type.
func Lookup[V any](patterns map[string]V, essence string) (v V, ok bool) {
	kind, _, _ := strings.Cut(essence, "/")
	for _, pattern := range []string{essence, kind + "/*", "*/*"} {
		if v, ok = patterns[pattern]; ok {
			break
		}
	}
	return v, ok
}
