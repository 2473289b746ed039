package robots

import (
	"slices"
	"strings"
)

// pattern is a compiled rule whose text is not simply the start of a path.
type pattern struct {
	// pieces are the texts around the wildcards; the first stands at the start
	// of the path. There is at least one, and each may be empty.
	pieces []string
	// inQuery are the pieces as they are where a wildcard reaches into a query;
	// nil if they are the same.
	inQuery []string
	// atEnd is set when the last piece stands at the end of the path: "$".
	atEnd bool
	allow bool
	// text is the pattern as written. Of the rules that match, the one with the
	// most octets decides (RFC 9309 section 2.2.2).
	text string
}

func newPattern(text string, allow bool) pattern {
	spelling, atEnd := strings.CutSuffix(text, "$")
	pieces := strings.Split(spelling, "*")
	for i := range pieces {
		pieces[i] = literal(pieces[i])
	}
	p := pattern{pieces: pieces, atEnd: atEnd, allow: allow, text: text}
	for i, piece := range pieces[1:] {
		if plain := separators.Replace(piece); plain != piece {
			if p.inQuery == nil {
				p.inQuery = slices.Clone(pieces)
			}
			p.inQuery[1+i] = plain
		}
	}
	return p
}

// matches reports whether the pattern matches a path in literal form, of which
// query is what follows the first "?". Taking each piece where it first occurs
// finds a match if there is any, since what comes later only gets more room.
func (p *pattern) matches(path, query string) bool {
	rest, ok := strings.CutPrefix(path, p.pieces[0])
	if !ok {
		return false
	}
	if len(p.pieces) == 1 {
		return !p.atEnd || rest == ""
	}
	last := len(p.pieces) - 1
	for i, piece := range p.pieces[1:last] {
		at := strings.Index(rest, piece)
		if at < 0 && p.inQuery != nil {
			// A piece that differs in a query has an escape that no query has: as
			// it is, it is found before the query or not at all.
			rest, piece = within(rest, query), p.inQuery[1+i]
			at = strings.Index(rest, piece)
		}
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	if p.endsWith(rest, p.pieces[last]) {
		return true
	}
	return p.inQuery != nil && p.endsWith(within(rest, query), p.inQuery[last])
}

// endsWith reports whether the last piece is in the rest of a path, at its end
// if it has to stand there.
func (p *pattern) endsWith(rest, piece string) bool {
	if p.atEnd {
		return strings.HasSuffix(rest, piece)
	}
	return strings.Contains(rest, piece)
}

// within is what of the rest of a path lies in its query.
func within(rest, query string) string {
	return rest[max(0, len(rest)-len(query)):]
}

// isPrefix reports whether a normal pattern matches just the paths that start
// with its text.
func isPrefix(text string) bool {
	return !strings.ContainsAny(text, "*$") && literal(text) == text
}
