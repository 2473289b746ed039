package document

import (
	"strings"

	"golang.org/x/net/html"
)

// Classes of bytes in tags (WHATWG HTML 13.2.5.8, 13.2.5.33 and 13.2.5.38).
const (
	endsName  = 1 << iota // of a tag or an attribute, except for "="
	endsValue             // that is not quoted
	isBlankInTag
)

var tagByte = [256]uint8{
	' ': endsName | endsValue | isBlankInTag, '\t': endsName | endsValue | isBlankInTag, '\n': endsName | endsValue | isBlankInTag,
	'\f': endsName | endsValue | isBlankInTag, '\r': endsName | endsValue | isBlankInTag,
	'/': endsName, '>': endsName | endsValue,
}

// nameEnd returns where the name of the tag ends that begins at i (13.2.5.8, tag name state).
func (s *stream) nameEnd(i int) int {
	for i < len(s.src) && tagByte[s.src[i]]&endsName == 0 {
		i++
	}
	return i
}

// tagEnd is the end of a tag.
type tagEnd struct {
	pos         int  // behind the ">"
	attributes  int  // how many there are, with those that are repeated
	selfClosing bool // it ends with "/>"
	// ambiguous: the "/" may be the end of a value, which x/net/html does not see if the attribute
	// repeats another.
	ambiguous bool
}

// attributes appends the attributes of the tag whose name ends at i (13.2.5.32 to 13.2.5.40).
// If all is set, it appends the attributes that the collector reads, otherwise only attributes
// that any element may have: those that hide it, and those of microdata and RDFa. ok is false if the document ends within the tag.
func (s *stream) attributes(attrs []html.Attribute, i int, all bool) (_ []html.Attribute, end tagEnd, ok bool) {
	src := s.src
	count := 0
	bare := -1 // the end of the last value without quotes
	for {
		for i < len(src) && tagByte[src[i]]&isBlankInTag != 0 {
			i++
		}
		if i == len(src) {
			return attrs, end, false
		}
		if src[i] == '>' {
			solidus := src[i-1] == '/'
			return attrs, tagEnd{pos: i + 1, attributes: count, selfClosing: solidus, ambiguous: solidus && bare == i}, true
		}
		from := i
		if src[i] == '=' { // which is part of the name at its beginning
			i++
		}
		for i < len(src) && tagByte[src[i]]&endsName == 0 && src[i] != '=' {
			i++
		}
		key := src[from:i]
		if key != "" {
			count++
		}
		for i < len(src) && tagByte[src[i]]&isBlankInTag != 0 {
			i++
		}
		if i == len(src) {
			return attrs, end, false
		}
		value := ""
		switch src[i] {
		case '/':
			i++
		case '=':
			i++
			for i < len(src) && tagByte[src[i]]&isBlankInTag != 0 {
				i++
			}
			if i == len(src) {
				return attrs, end, false
			}
			switch quote := src[i]; quote {
			case '>':
			case '"', '\'':
				n := strings.IndexByte(src[i+1:], quote)
				if n < 0 {
					return attrs, end, false
				}
				value = src[i+1 : i+1+n]
				i += n + 2
			default:
				from := i
				for i < len(src) && tagByte[src[i]]&endsValue == 0 {
					i++
				}
				value, bare = src[from:i], i
			}
		}
		if key, ok := wanted(key, all); ok && !has(attrs, key) {
			attrs = append(attrs, html.Attribute{Key: key, Val: s.value(value)})
		}
	}
}

// has reports whether there is an attribute of that name. Of two with one name the first counts.
func has(attrs []html.Attribute, key string) bool {
	for i := range attrs {
		if attrs[i].Key == key {
			return true
		}
	}
	return false
}

// wanted returns the name of an attribute in lower case, and whether it is read.
func wanted(key string, all bool) (string, bool) {
	if len(key) < len("alt") || len(key) > len("shadowrootmode") {
		return "", false
	}
	if !all {
		switch key[0] | 0x20 {
		case 'h', 'p':
		case 'i':
			if len(key) != len("itemscope") {
				return "", false
			}
		case 't':
			if len(key) != len("typeof") {
				return "", false
			}
		default:
			return "", false
		}
	}
	for i := range len(key) {
		if 'A' <= key[i] && key[i] <= 'Z' {
			key = lowerASCII([]byte(key))
			break
		}
	}
	switch key {
	case "hidden", "popover", "itemscope", "typeof", "property", "pubdate":
		return key, true
	case "href", "rel", "hreflang", "src", "alt", "title", "srcset", "poster", "action", "method", "type", "content", "name",
		"http-equiv", "lang", "dir", "xml:lang", "xlink:href", "open", "encoding", "color", "face", "size":
		return key, all
	}
	return "", false
}

// skipTag skips the end tag whose name ends at i. Its attributes do not count, but the tag does not
// end within their values.
func (s *stream) skipTag(i int) (ok bool) {
	if i < len(s.src) && s.src[i] == '>' {
		s.pos = i + 1
		return true
	}
	var end tagEnd
	s.attrs, end, ok = s.attributes(s.attrs[:0], i, false)
	s.pos = end.pos
	return ok
}

// declaration takes what begins with "<!" at a place (13.2.5.42, markup declaration open state).
func (s *stream) declaration(at int) bool {
	rest := s.src[at+len("<!"):]
	switch {
	case strings.HasPrefix(rest, "--"):
		s.comment()
		n := commentEnd(rest[len("--"):])
		if n < 0 {
			return false
		}
		s.cost.within(s.body[at+len("<!--") : at+len("<!--")+n])
		s.pos = at + len("<!--") + n
		return true
	case len(rest) >= len("doctype") && equalFoldASCII(rest[:len("doctype")], "doctype"):
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			end = len(rest) - 1
		}
		s.pos = at + len("<!") + end + 1
		if s.mode == initialMode {
			s.doctype = s.src[at:s.pos]
			s.mode = beforeHTML
		}
		return s.pos < len(s.src)
	case len(s.open) > 0 && s.current().space != inHTML && strings.HasPrefix(rest, "[CDATA["):
		text, _, closed := strings.Cut(rest[len("[CDATA["):], "]]>")
		if !closed {
			s.giveUp("a CDATA section without an end")
			return false
		}
		s.pos = at + len("<![CDATA[]]>") + len(text)
		s.text(text)
		return true
	}
	return s.bogusComment(at + len("<!"))
}

// commentEnd returns where a comment ends, given what follows its "<!--", or -1 (13.2.5.43 to
// 13.2.5.52).
func commentEnd(s string) int {
	switch {
	case strings.HasPrefix(s, ">"):
		return len(">")
	case strings.HasPrefix(s, "->"):
		return len("->")
	}
	for at := 0; ; at++ {
		i := strings.Index(s[at:], "--")
		if i < 0 {
			return -1
		}
		at += i
		switch after := s[at+len("--"):]; {
		case strings.HasPrefix(after, ">"):
			return at + len("-->")
		case strings.HasPrefix(after, "!>"):
			return at + len("--!>")
		}
	}
}

// bogusComment takes a comment that ends at the next ">" (13.2.5.41).
func (s *stream) bogusComment(i int) bool {
	s.comment()
	end := strings.IndexByte(s.src[i:], '>')
	if end < 0 {
		return false
	}
	s.cost.within(s.body[i : i+end])
	s.pos = i + end + 1
	return true
}

// comment notes a comment. Behind the body it is not a child of the current node.
func (s *stream) comment() {
	if s.mode != afterBody && s.mode != afterAfterBody {
		s.fresh = false
	}
}

// rawEnd returns where the text of an element ends that has only text: at its end tag, or at the
// end of the document (13.2.5.9 to 13.2.5.31). ok is false if that is not sure: a script in a
// comment in a script hides its end tag (13.2.5.26, script data double escape start state).
func (s *stream) rawEnd(from int, e *element) (end int, ok bool) {
	n := len(e.name)
	for end = from; ; end += len("</") {
		i := strings.Index(s.src[end:], "</")
		if i < 0 {
			end = len(s.src)
			break
		}
		end += i
		after := end + len("</") + n
		if after < len(s.src) && tagByte[s.src[after]]&endsName != 0 && equalFoldASCII(s.src[end+len("</"):after], e.name) {
			break
		}
	}
	if e == scriptElement {
		if _, hidden, found := strings.Cut(s.src[from:end], "<!--"); found && strings.Contains(strings.ToLower(hidden), "<script") {
			return end, false
		}
	}
	return end, true
}

// newlines normalizes newlines (13.2.3.5, preprocessing the input stream).
func newlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
