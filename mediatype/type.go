// Package mediatype reads Content-Type header fields as browsers do (WHATWG
// Fetch, extract a MIME type; WHATWG MIME Sniffing, parse a MIME type).
package mediatype

import (
	"strings"

	"github.com/weftcrawl/weft/httpfield"
)

// Type is a media type. The zero value: none that is usable.
type Type struct {
	// Essence is type and subtype, lower case, as "text/html".
	Essence string
	// Charset is the parameter of that name as written; HasCharset tells one that
	// is empty from none.
	Charset    string
	HasCharset bool
}

// Of returns the type that the Content-Type fields of a response give, joined by
// commas: the last one that is a type, and not any type. Without a charset of its
// own it has that of equal ones before it.
func Of(fields string) Type {
	var found Type
	for more := true; more; {
		var field string
		field, fields, more = httpfield.Cut(fields)
		t, ok := parse(field)
		if !ok || t.Essence == "*/*" {
			continue
		}
		if t.Essence == found.Essence && !t.HasCharset {
			t = found
		}
		found = t
	}
	return found
}

// parse reads one field.
func parse(field string) (Type, bool) {
	essence, rest, _ := strings.Cut(strings.Trim(field, blank), ";")
	essence = strings.TrimRight(essence, blank)
	kind, sub, _ := strings.Cut(essence, "/")
	if !isToken(kind) || !isToken(sub) {
		return Type{}, false
	}
	t := Type{Essence: strings.ToLower(essence)}
	for rest != "" && !t.HasCharset {
		var name, value string
		name, value, rest = parameter(rest)
		if strings.EqualFold(name, "charset") && isValue(value) {
			t.Charset, t.HasCharset = value, true
		}
	}
	return t, true
}

// parameter reads a parameter at the beginning of s. Its name is empty if it has
// no value.
func parameter(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, blank)
	end := strings.IndexAny(s, ";=")
	if end < 0 {
		return "", "", ""
	}
	name, rest = s[:end], s[end+1:]
	if s[end] == ';' {
		return "", "", rest
	}
	if strings.HasPrefix(rest, `"`) {
		value, rest = httpfield.Quoted(rest)
		_, rest, _ = strings.Cut(rest, ";")
		return name, value, rest
	}
	value, rest, _ = strings.Cut(rest, ";")
	if value = strings.TrimRight(value, blank); value == "" {
		return "", "", rest
	}
	return name, value, rest
}

// blank is HTTP white space.
const blank = " \t\r\n"

// isToken reports whether s is a token (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if letter := c | 0x20; ('a' > letter || letter > 'z') && ('0' > c || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isValue reports whether s may be in a quoted string.
func isValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7F {
			return false
		}
	}
	return true
}
