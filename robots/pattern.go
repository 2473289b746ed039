package robots

import "strings"

// pattern is a compiled rule whose text is not simply the start of a path.
type pattern struct {
	// pieces are the texts around the wildcards; the first stands at the start
	// of the path. There is at least one, and each may be empty.
	pieces []string
	// atEnd is set when the last piece stands at the end of the path: "$".
	atEnd bool
	// octets is the length of the pattern as written: of the rules that match,
	// the longest decides (RFC 9309 section 2.2.2).
	octets int
	// text is the pattern as written.
	text  string
	allow bool
}

// newPattern compiles a spelling of the pattern that is written as text.
func newPattern(spelling, text string, allow bool) pattern {
	spelling, atEnd := strings.CutSuffix(spelling, "$")
	pieces := strings.Split(spelling, "*")
	for i := range pieces {
		pieces[i] = literal(pieces[i])
	}
	return pattern{pieces: pieces, atEnd: atEnd, octets: len(text), text: text, allow: allow}
}

// matches reports whether the pattern matches a path in literal form. Taking
// each piece where it first occurs finds a match if there is any, since what
// comes later only gets more room.
func (p *pattern) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, p.pieces[0])
	if !ok {
		return false
	}
	if len(p.pieces) == 1 {
		return !p.atEnd || rest == ""
	}
	last := len(p.pieces) - 1
	for _, piece := range p.pieces[1:last] {
		if _, rest, ok = strings.Cut(rest, piece); !ok {
			return false
		}
	}
	if p.atEnd {
		return strings.HasSuffix(rest, p.pieces[last])
	}
	return strings.Contains(rest, p.pieces[last])
}

// isPrefix reports whether a normal pattern matches just the paths that start
// with its text.
func isPrefix(text string) bool {
	return !strings.ContainsAny(text, "*$") && literal(text) == text
}

// spellings are the patterns that a normal pattern stands for. Within a query
// ":" and "/" may be escaped or not and mean the same: the RFC's example has
// "?baz=https://foo.bar" match "?baz=https%3A%2F%2Ffoo.bar" (section 2.2.2).
func spellings(text string) []string {
	question := strings.IndexByte(text, '?')
	if question < 0 {
		return []string{text}
	}
	path, query := text[:question], text[question:]
	all := []string{text}
	for _, other := range []string{path + escapedQuery.Replace(query), path + plainQuery.Replace(query)} {
		if other != text {
			all = append(all, other)
		}
	}
	return all
}

var (
	escapedQuery = strings.NewReplacer(":", "%3A", "/", "%2F")
	plainQuery   = strings.NewReplacer("%3A", ":", "%2F", "/")
)
