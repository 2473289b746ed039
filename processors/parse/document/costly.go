package document

import "bytes"

// Bytes of an element in a tree, and of one of its attributes.
const (
	elementBytes   = 112
	attributeBytes = 48
)

// mostAlike is how many equal formatting elements are opened again (WHATWG HTML,
// push onto the list of active formatting elements: the Noah's Ark clause).
const mostAlike = 3

// neverReopens is a size of bodies that stay below maxReopened, even if one half is formatting
// elements and the other half paragraphs.
const neverReopens = 4 << 10

type surveyed struct {
	roots int // how many start tags of html and body there are
	// reopened is an upper bound of the bytes that the tree parser takes for elements that
	// it opens again.
	reopened int
}

// survey looks at the tags of a body. It stops when reopened is beyond maxReopened.
//
// After every tag the tree parser may open formatting elements again (WHATWG HTML,
// reconstruct the active formatting elements): all that have no end tag yet, whenever the end
// or the start of another element has closed them. survey assumes that end tags end nothing,
// because in comments, attributes and cells, and for misnested elements, they may not. The
// start of an anchor does not always end the anchor before it either. With simple, survey
// takes longer, and believes the end tags of simple elements (isSimple). If the start tags
// that it reads are longer than the body, they are within one another, and survey stops.
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
		name := shortName(body)
		if !isFormatting(name) || open.again(body) {
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

// formatting are the formatting elements that may be opened again.
type formatting struct {
	bytes int // of these elements
	// tags are the different start tags, except for anchors: a body has many anchors, and few
	// of them are equal.
	tags []formattingTag
}

type formattingTag struct {
	raw   []byte // as written, without its ">"
	count int    // how often it came
	size  int    // bytes of its element
}

func (f *formatting) add(name, raw []byte, size int) {
	f.bytes += size
	if len(name) > 1 || name[0]|0x20 != 'a' {
		f.tags = append(f.tags, formattingTag{raw: raw, count: 1, size: size})
	}
}

// again counts the start tag at the beginning of s if it is equal to an earlier one, and tells
// whether it is.
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

func isFormatting(name []byte) bool {
	switch lowerASCII(name) {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

// longestName is the longest name of an element that matters here.
const longestName = len("blockquote")

// shortName returns the name of the start tag at the beginning of tag. It is nil if the name has
// other characters than letters and digits, or is longer than longestName.
func shortName(tag []byte) []byte {
	end := 0
	for end < len(tag) && end <= longestName && (isLetter(tag[end]) || end > 0 && '0' <= tag[end] && tag[end] <= '9') {
		end++
	}
	if end < len(tag) && !isSpace(tag[end]) && tag[end] != '/' && tag[end] != '>' {
		return nil
	}
	return tag[:end]
}

const (
	// simpleTags is how many tags may be in a simple element.
	simpleTags = 32
	// simpleDepth is how many elements may be open in it, itself included.
	simpleDepth = 10
)

// isSimple reports whether an element is simple, given what follows its start tag: it has an
// end tag, and between the two only text and elements that are ended properly whatever is
// around them. tags is the number of tags up to the end. After each of these tags the element
// may be opened again, because some tags end what the element stands in. isSimple looks at no
// more than simpleTags "<", also in values of attributes, so that a whole body takes linear
// time.
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

// simpleKind is the kind of an element. Not simple are elements whose text is not HTML, elements of
// forms and tables, and others with rules for their contents.
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

// endTag cuts the end tag with a name, without its "<", off the beginning of s.
func endTag(s, name []byte) (after []byte, ok bool) {
	n := 1 + len(name)
	if len(s) <= n || s[0] != '/' || s[n] != '>' || !bytes.EqualFold(s[1:n], name) {
		return s, false
	}
	return s[n+1:], true
}

// What the tree parser (x/net/html v0.62) does in time or memory that grows with
// the square of a body, measured on one slow core:
//
//   - It merges the attributes of each further html and body tag into the attributes of the first: 128 KiB of "<body
//     a1><body a2>…" take 5 s, 1 MiB minutes.
//   - If a paragraph does not close its formatting elements, it opens them again in each later paragraph: 64 KiB of
//     "<p><b a1><b a2>…</p><p>x<p>x…" take 9 s and 6 GiB, which the tree holds (see survey).
const (
	// maxRoots is how many html and body tags a document with a tree may have. Pages that
	// were put together carelessly have a handful.
	maxRoots = 64
	// alwaysCheap is a size of bodies whose root tags need not be counted: the tree of
	// 32 KiB full of root tags takes 0.4 s.
	alwaysCheap = 32 << 10
	// maxReopened bounds the bytes of elements that are opened again. A tree of
	// the largest body takes about as much.
	maxReopened = 64 << 20
)

// costly reports whether the tree parser may need far more time for a body than
// for others of its size.
func costly(body []byte) bool {
	if len(body) <= neverReopens {
		return false
	}
	found := survey(body, false)
	if found.reopened > maxReopened {
		found = survey(body, true)
	}
	return found.reopened > maxReopened || len(body) > alwaysCheap && found.roots > maxRoots
}

// startsRoot reports whether tag, without its "<", is one of html or body, or
// begins like one.
func startsRoot(tag []byte) bool { return hasPrefixFold(tag, "body") || hasPrefixFold(tag, "html") }
