// Package mediatype reads Content-Type header fields as browsers do (WHATWG
// Fetch, extract a MIME type; WHATWG MIME Sniffing, parse a MIME type).
package mediatype

import (
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/weftcrawl/weft/internal/httpfield"
)

// Type is a media type. The zero value means that there is no usable one.
type Type struct {
	// Essence is type and subtype, lower case, as "text/html".
	Essence string
	// Charset is the parameter of that name as written. HasCharset tells whether there
	// is one; it may be empty.
	Charset    string
	HasCharset bool
}

// Of returns the type of a response from its Content-Type fields, joined by commas: the last
// one that is a valid type and not "*/*". If it has no charset, it gets the charset of an equal
// type before it.
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

func parse(field string) (Type, bool) {
	essence, rest, _ := strings.Cut(strings.Trim(field, blank), ";")
	essence = strings.TrimRight(essence, blank)
	kind, sub, _ := strings.Cut(essence, "/")
	if !httpguts.ValidHeaderFieldName(kind) || !httpguts.ValidHeaderFieldName(sub) {
		return Type{}, false
	}
	t := Type{Essence: strings.ToLower(essence)}
	for rest != "" && !t.HasCharset {
		var name, value string
		name, value, rest = parameter(rest)
		if strings.EqualFold(name, "charset") && httpguts.ValidHeaderFieldValue(value) {
			t.Charset, t.HasCharset = value, true
		}
	}
	return t, true
}

// parameter reads the parameter at the beginning of s. name is empty if the parameter
// has no value.
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
