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
	// partial is the pattern for paths whose separators are not decoded; nil if no
	// piece ends within an escape. Either may match.
	partial *pattern
	// atEnd is set when the last piece stands at the end of the path: "$".
	atEnd bool
	allow bool
	// text is the pattern as written. Of the rules that match, the one with the
	// most octets decides (RFC 9309 section 2.2.2).
	text string
}

// normalPattern is the form of a pattern that is compared with paths.
func normalPattern(text string) string {
	normal := normalize(text)
	if isPartial(normal) {
		return normal
	}
	return separated(normal)
}

// isPartial reports whether a piece of a normal pattern ends within what may be the
// escape of a separator: "/*?*%" is for queries with any escape.
func isPartial(normal string) bool {
	for piece := range strings.SplitSeq(strings.TrimSuffix(normal, "$"), "*") {
		if strings.HasSuffix(piece, "%") || strings.HasSuffix(piece, "%2") || strings.HasSuffix(piece, "%3") {
			return true
		}
	}
	return false
}

func newPattern(text string, allow bool) pattern {
	p := spelled(separated(text))
	p.allow, p.text = allow, text
	if strings.IndexByte(text, '%') < 0 {
		return p
	}
	for i, piece := range p.pieces[1:] {
		if plain := separators.Replace(piece); plain != piece {
			if p.inQuery == nil {
				p.inQuery = slices.Clone(p.pieces)
			}
			p.inQuery[1+i] = plain
		}
	}
	if isPartial(text) {
		partial := spelled(text)
		p.partial = &partial
	}
	return p
}

// isSearched reports whether a text of a normal pattern may stand anywhere in a
// path. "/a*" says where its only one stands.
func isSearched(text string) bool {
	return strings.Contains(strings.TrimRight(strings.TrimSuffix(text, "$"), "*"), "*")
}

// spelled is a pattern before it is analysed: only its spelling is known.
func spelled(text string) pattern {
	spelling, atEnd := strings.CutSuffix(text, "$")
	for strings.Contains(spelling, "**") { // a run means what one does
		spelling = strings.ReplaceAll(spelling, "**", "*")
	}
	pieces := strings.Split(spelling, "*")
	for i := range pieces {
		pieces[i] = literal(pieces[i])
	}
	return pattern{pieces: pieces, atEnd: atEnd}
}

func (p *pattern) matches(path *path) bool {
	return p.match(path.text, path.query) || p.partial != nil && p.partial.match(path.escaped, "")
}

// match takes each piece where it first occurs, which finds a match if there is any,
// since what comes later only gets more room.
func (p *pattern) match(text, query string) bool {
	rest, ok := strings.CutPrefix(text, p.pieces[0])
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
	return !strings.ContainsAny(text, "*$") && literal(text) == text && !isPartial(text)
}

type path struct {
	// escaped is its literal form. text is that with separators decoded, and query
	// what follows the first "?" of text.
	escaped, text, query string
}

func newPath(pathAndQuery string) path {
	normal := normalize(pathAndQuery)
	p := path{escaped: literal(normal), text: literal(separated(normal))}
	_, p.query, _ = strings.Cut(p.text, "?")
	return p
}
