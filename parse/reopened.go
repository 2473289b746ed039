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

// reopened bounds, from above, the bytes that the tree parser takes for elements
// that it opens again (WHATWG HTML, reconstruct the active formatting elements):
// after every tag, as often as an end or another start has closed them, all that
// have not been ended. It stops counting beyond maxReopened.
//
// It takes no end for granted but, if simple, that of a simple element, which takes
// longer to find: in comments, attributes and cells, and for misnested elements,
// ends may end nothing. Tags within tags, which cannot all be tags, are reason
// enough to stop.
func reopened(body []byte, simple bool) int {
	if len(body) <= neverReopens {
		return 0
	}
	var open formatting
	total, unread := 0, len(body)
	for total <= maxReopened {
		start := bytes.IndexByte(body, '<')
		if start < 0 {
			break
		}
		body = body[start+1:]
		total += open.bytes
		name := formattingName(body)
		if name == nil || open.again(body) {
			continue
		}
		tag := scanner{rest: body[len(name):]}
		attributes := tag.attributes()
		raw := body[:len(body)-len(tag.rest)]
		if unread -= len(raw); unread < 0 {
			return maxReopened + 1
		}
		if !simple || !isSimple(tag.rest, name) {
			open.add(raw, elementBytes+attributes*attributeBytes)
		}
	}
	return total
}

// formatting are the formatting elements that may be opened again.
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

func (f *formatting) add(raw []byte, size int) {
	f.tags = append(f.tags, formattingTag{raw, 1, size})
	f.bytes += size
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
// is without its "<", if it is that of a formatting element, else nil. Of a
// elements only one is active at a time.
func formattingName(tag []byte) []byte {
	if len(tag) == 0 || !startsFormatting(tag[0]|0x20) {
		return nil
	}
	end := 1
	for end < len(tag) && end <= len("strong") && isLetter(tag[end]) {
		end++
	}
	if end < len(tag) && !endsName(tag[end]) {
		return nil
	}
	switch lowerASCII(tag[:end]) {
	case "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return tag[:end]
	}
	return nil
}

func startsFormatting(c byte) bool {
	const first = 1<<('b'-'a') | 1<<('c'-'a') | 1<<('e'-'a') | 1<<('f'-'a') | 1<<('i'-'a') | 1<<('n'-'a') | 1<<('s'-'a') | 1<<('t'-'a') | 1<<('u'-'a')
	return 'a' <= c && c <= 'z' && first>>(c-'a')&1 != 0
}

func endsName(c byte) bool { return isSpace(c) || c == '/' || c == '>' }

// simpleTags is how many tags a simple element may hold.
const simpleTags = 16

// isSimple reports whether what comes after a start tag is text, or formatting and
// span elements as simple as itself, and its end tag.
func isSimple(rest, name []byte) bool {
	var open [4][]byte
	open[0] = name
	depth := 1
	for range simpleTags {
		start := bytes.IndexByte(rest, '<')
		if start < 0 {
			return false
		}
		rest = rest[start+1:]
		if after, ok := endTag(rest, open[depth-1]); ok {
			if depth--; depth == 0 {
				return true
			}
			rest = after
			continue
		}
		if name = formattingName(rest); name == nil {
			name = spanName(rest)
		}
		if name == nil || depth == len(open) {
			return false
		}
		tag := scanner{rest: rest[len(name):]}
		tag.attributes()
		open[depth], rest = name, tag.rest
		depth++
	}
	return false
}

// endTag cuts the end tag of that name, without its "<", from the beginning of s.
func endTag(s, name []byte) (after []byte, ok bool) {
	n := 1 + len(name)
	if len(s) <= n || s[0] != '/' || s[n] != '>' || !bytes.EqualFold(s[1:n], name) {
		return s, false
	}
	return s[n+1:], true
}

// spanName is formattingName for a span.
func spanName(tag []byte) []byte {
	const length = len("span")
	if len(tag) > length && endsName(tag[length]) && bytes.EqualFold(tag[:length], []byte("span")) {
		return tag[:length]
	}
	return nil
}
