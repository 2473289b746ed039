// Package httpfield reads lists and quoted strings in the values of HTTP fields (RFC
// 9110 section 5.6), as leniently as browsers do.
package httpfield

import "strings"

// Cut returns the first member of a list, up to a comma that is not in a quoted string,
// and the rest behind the comma. more tells that there was a comma.
func Cut(list string) (member, rest string, more bool) {
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case ',':
			return list[:i], list[i+1:], true
		case '"':
			_, rest := Quoted(list[i:])
			i = len(list) - len(rest) - 1
		}
	}
	return list, "", false
}

// Quoted reads the quoted string at the beginning of s. Without a closing quote it goes
// to the end of s (WHATWG Fetch, collect an HTTP quoted string).
func Quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
