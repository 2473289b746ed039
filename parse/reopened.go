package parse

import "bytes"

// Bytes of an element in a tree, and of one of its attributes.
const (
	elementBytes   = 112
	attributeBytes = 48
)

// mostAlike is how many equal formatting elements are opened again (WHATWG HTML,
// push onto the list of active formatting elements: the Noah's Ark clause).
const mostAlike = 3

// neverReopens is a size at which half a body of formatting elements and half of
// paragraphs stay below maxReopened.
const neverReopens = 4 << 10

// surveyed is what the start tags of a body say of what its tree may cost.
type surveyed struct {
	roots int // html and body
	// reopened bounds, from above, the bytes that the tree parser takes for elements
	// that it opens again.
	reopened int
}

// survey looks at the tags of a body. It stops when reopened is beyond maxReopened.
//
// The tree parser opens elements again after every tag (WHATWG HTML, reconstruct the
// active formatting elements): as often as an end or another start has closed them,
// all that have not been ended. Survey takes no end for granted but, if simple, that
// of a simple element, which takes longer to find: in comments, attributes and cells,
// and for misnested elements, ends may end nothing, and neither does the next anchor
// that of one with nine blocks in it. Tags within tags, which cannot all be tags, are
// reason enough to stop.
func survey(body []byte, simple bool) (found surveyed) {
	var open formatting
	unread := len(body)
	for found.reopened <= maxReopened {
		start := bytes.IndexByte(body, '<')
		if start < 0 || start+1 == len(body) {
			break
		}
		body = body[start+1:]
		found.reopened += open.bytes
		kind := tagKinds[body[0]|0x20]
		if kind&maybeRoot != 0 && startsRoot(body) {
			found.roots++
		}
		if kind&maybeFormatting == 0 {
			continue
		}
		name := formattingName(body)
		if name == nil || open.again(body) {
			continue
		}
		tag := scanner{rest: body[len(name):]}
		attributes := tag.attributes()
		raw := body[:len(body)-len(tag.rest)]
		if unread -= len(raw); unread < 0 {
			found.reopened = maxReopened + 1
		}
		size := elementBytes + attributes*attributeBytes
		if simple {
			if tags, ok := isSimple(tag.rest, name); ok {
				found.reopened += tags * size
				continue
			}
		}
		open.add(name, raw, size)
	}
	return found
}

// Kinds of tags by the first letter of their names, in lower case.
const (
	maybeFormatting = 1 << iota
	maybeRoot
)

var tagKinds = [256]uint8{
	'a': maybeFormatting, 'b': maybeFormatting | maybeRoot, 'c': maybeFormatting, 'e': maybeFormatting, 'f': maybeFormatting,
	'h': maybeRoot, 'i': maybeFormatting, 'n': maybeFormatting, 's': maybeFormatting, 't': maybeFormatting, 'u': maybeFormatting,
}

// formatting are the formatting elements that may be opened again. Anchors, which
// are many and seldom equal, are not told apart.
type formatting struct {
	bytes int
	tags  []formattingTag
}

// formattingTag is a start tag as written, but for its ">", how many there were of
// it, and the bytes of its element.
type formattingTag struct {
	raw         []byte
	count, size int
}

func (f *formatting) add(name, raw []byte, size int) {
	f.bytes += size
	if len(name) > 1 || name[0]|0x20 != 'a' {
		f.tags = append(f.tags, formattingTag{raw, 1, size})
	}
}

// again takes the start tag at the beginning of s, if it is one of those before.
func (f *formatting) again(s []byte) bool {
	for i := range f.tags {
		t := &f.tags[i]
		if len(s) <= len(t.raw) || s[len(t.raw)] != '>' || !bytes.HasPrefix(s, t.raw) {
			continue
		}
		if t.count++; t.count <= mostAlike {
			f.bytes += t.size
		}
		return true
	}
	return false
}

// formattingName returns the name of the start tag at the beginning of tag, which
// is without its "<", if it is that of a formatting element, else nil.
func formattingName(tag []byte) []byte {
	if name := shortName(tag); isFormatting(name) {
		return name
	}
	return nil
}

func isFormatting(name []byte) bool {
	switch lowerASCII(name) {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// longestName is the longest name of an element that matters here.
const longestName = len("blockquote")

// shortName returns the name of the start tag at the beginning of tag, if it is one
// of letters and digits and no longer than longestName, else nil.
func shortName(tag []byte) []byte {
	end := 0
	for end < len(tag) && end <= longestName && (isLetter(tag[end]) || end > 0 && '0' <= tag[end] && tag[end] <= '9') {
		end++
	}
	if end < len(tag) && !endsName(tag[end]) {
		return nil
	}
	return tag[:end]
}

func endsName(c byte) bool { return isSpace(c) || c == '/' || c == '>' }

const (
	// simpleTags is how many tags a simple element may hold.
	simpleTags = 32
	// simpleDepth is how deep it may be.
	simpleDepth = 10
)

// isSimple reports whether what comes after a start tag is text, elements that are
// ended where they ought to be whatever is around them, and its end tag; and how many
// tags these are. After each the element may be opened again, for some end what it
// stands in. It looks no further than so many "<", also in values of attributes, so
// that a whole body takes linear time.
func isSimple(rest, name []byte) (tags int, ok bool) {
	var open [simpleDepth][]byte
	open[0] = name
	depth, drawing := 1, 0
	for tags = 1; tags <= simpleTags; tags++ {
		start := bytes.IndexByte(rest, '<')
		if start < 0 {
			return 0, false
		}
		rest = rest[start+1:]
		if after, ok := endTag(rest, open[depth-1]); ok {
			if depth--; depth == 0 {
				return tags, true
			}
			if depth == drawing {
				drawing = 0
			}
			rest = after
			continue
		}
		end := bytes.IndexByte(rest, '<')
		if end < 0 {
			return 0, false
		}
		name = shortName(rest)
		tag := scanner{rest: rest[len(name):end]}
		if tag.attributes(); len(tag.rest) == 0 {
			return 0, false
		}
		closed := rest[end-len(tag.rest)-1] == '/'
		rest = rest[end-len(tag.rest):]
		switch kind := simpleKind(name); {
		case kind == notSimple || kind == simpleShape && drawing == 0:
			return 0, false
		case kind == simpleVoid || closed && kind >= simpleDrawing:
			continue
		case depth == len(open):
			return 0, false
		case kind == simpleDrawing && drawing == 0:
			drawing = depth
		}
		open[depth] = name
		depth++
	}
	return 0, false
}

// Kinds of elements in simple ones.
const (
	notSimple = iota
	simpleOpen
	simpleVoid
	simpleDrawing
	simpleShape // within a drawing
)

// simpleKind has no element with text that is no HTML, of forms, tables and others
// whose contents have rules of their own.
func simpleKind(name []byte) int {
	switch lowerASCII(name) {
	case "address", "article", "aside", "blockquote", "cite", "dd", "div", "dl", "dt", "figcaption", "figure", "footer",
		"h1", "h2", "h3", "h4", "h5", "h6", "header", "li", "mark", "ol", "p", "picture", "section", "span", "sub", "sup",
		"time", "ul":
		return simpleOpen
	case "br", "hr", "img", "source", "wbr":
		return simpleVoid
	case "svg":
		return simpleDrawing
	case "circle", "ellipse", "g", "line", "path", "polygon", "polyline", "rect", "use":
		return simpleShape
	}
	if isFormatting(name) {
		return simpleOpen
	}
	return notSimple
}

// endTag cuts the end tag of that name, without its "<", from the beginning of s.
func endTag(s, name []byte) (after []byte, ok bool) {
	n := 1 + len(name)
	if len(s) <= n || s[0] != '/' || s[n] != '>' || !bytes.EqualFold(s[1:n], name) {
		return s, false
	}
	return s[n+1:], true
}
