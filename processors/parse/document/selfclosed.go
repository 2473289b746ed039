package document

import (
	"bytes"

	"golang.org/x/net/html"
)

// withEnds gives an end tag to an element without contents, such as <title/> or <iframe src="x"/>,
// that would take the rest of the document as its text. XHTML ends such an element there; HTML
// does not, so that browsers show nothing of what follows. It does so for elements of which HTML
// reads no tags inside, if no end tag of that name follows. Nothing is changed behind the first
// svg or math element, where "/>" ends elements. A document that the stream has read needs no
// such end tag: the stream gives up where text goes on to the end behind "/>".
func withEnds(body []byte) []byte {
	if !maySelfCloseRaw(body) {
		return body
	}
	var out []byte
	written := 0                 // how much of body is in out
	endless := map[string]bool{} // names of which no end tag follows
	z := html.NewTokenizer(bytes.NewReader(body))
	for at := 0; ; {
		kind := z.Next()
		at += len(z.Raw())
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag, _ := z.TagName()
		name := string(tag)
		if name == "svg" || name == "math" {
			break
		}
		if kind != html.SelfClosingTagToken || !isRawText(tag) {
			continue
		}
		if endless[name] = endless[name] || !hasEndTag(body[at:], tag); endless[name] {
			out = append(append(out, body[written:at]...), "</"+name+">"...)
			written = at
			z.NextIsNotRawText()
		}
	}
	if out == nil {
		return body
	}
	return append(out, body[written:]...)
}

// maySelfCloseRaw tells whether a document has what looks like the tag of an element that withEnds
// is about. Hardly any document has one.
func maySelfCloseRaw(body []byte) bool {
	for {
		end := bytes.Index(body, []byte("/>"))
		if end < 0 {
			return false
		}
		if start := bytes.LastIndexByte(body[:end], '<'); start >= 0 && isRawText(shortName(body[start+1:end])) {
			return true
		}
		body = body[end+len("/>"):]
	}
}

// hasEndTag tells whether a document has an end tag of that name, in lower case.
func hasEndTag(body, name []byte) bool {
	s := scanner{rest: body}
	s.seekEnd(name)
	return len(s.rest) > 0
}
