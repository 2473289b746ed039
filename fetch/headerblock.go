package fetch

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Header is one field line of a request or response, in valid UTF-8.
type Header struct {
	Name  string
	Value string
}

// headerBlock keeps the header of an HTTP/1.1 response as it is read, in its
// order and spelling, which http.Header does not. Interim responses (1xx) in
// front are left out.
type headerBlock struct {
	text     []byte
	limit    int
	complete bool
	overrun  bool  // longer than limit: given up
	end      error // of the connection, before that of the header

	request []byte // what was written for it
}

// maxHeadBytes is the longest head of which an exchange keeps the bytes: a record has
// to hold them beside the fields.
const maxHeadBytes = 64 << 10

// kept returns a head if an exchange keeps it.
func kept(head []byte) []byte {
	if len(head) > maxHeadBytes {
		return nil
	}
	return head
}

// isHTTP reports whether what there is can be the beginning of a response.
func (h *headerBlock) isHTTP() bool {
	const version = "HTTP/1."
	return len(h.text) > 0 && string(h.text[:min(len(h.text), len(version))]) == version[:min(len(h.text), len(version))]
}

// feed takes the next bytes read and reports whether no more are wanted.
func (h *headerBlock) feed(b []byte) (done bool) {
	for {
		from := max(0, len(h.text)-3)
		// Enough for any header that fits, and not the body that follows it.
		take := min(len(b), h.limit-len(h.text))
		h.text = append(h.text, b[:take]...)
		end := headerEnd(h.text, from)
		if end < 0 {
			h.overrun = take < len(b)
			return h.overrun
		}
		b = b[take-(len(h.text)-end):]
		h.text = h.text[:end]
		if !isInterim(h.text) {
			h.complete = true
			return true
		}
		h.text = h.text[:0]
	}
}

// headerEnd returns the index after the empty line that ends a header, -1 if
// there is none. Lines may end in LF alone (RFC 9112 section 2.2).
func headerEnd(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		lf := bytes.IndexByte(text[i:], '\n')
		if lf < 0 {
			return -1
		}
		i += lf
		rest := text[i+1:]
		if len(rest) > 0 && rest[0] == '\r' {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0] == '\n' {
			return len(text) - len(rest) + 1
		}
	}
	return -1
}

// isInterim reports whether the block's status is 1xx other than 101, after
// which nothing of HTTP follows.
func isInterim(block []byte) bool {
	_, status, _ := bytes.Cut(block, []byte(" "))
	return len(status) >= 3 && status[0] == '1' && string(status[:3]) != "101"
}

// headers returns the fields; nil when the block is not complete. With more
// than maxHeaderFields lines, of which a folded field has several, it is
// errTooManyFields.
func (h *headerBlock) headers() ([]Header, error) {
	if h == nil || !h.complete {
		return nil, nil
	}
	text := string(h.text)
	_, text, _ = strings.Cut(text, "\n") // status line
	lines := strings.Count(text, "\n") - 1
	if lines > maxHeaderFields {
		return nil, errTooManyFields
	}
	list := make([]Header, 0, lines)
	var value []string // of the last field, by line
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			value = append(value, toUTF8(strings.TrimSpace(line)))
			continue
		}
		name, first, ok := strings.Cut(line, ":")
		if ok {
			unfold(list, value)
			first = toUTF8(strings.TrimSpace(first))
			list, value = append(list, Header{toUTF8(name), first}), append(value[:0], first)
		}
	}
	unfold(list, value)
	return list, nil
}

// unfold gives the last field of list the lines of its value if it has several:
// a folded line continues the one before (RFC 9112 section 5.2). Joined once,
// they cost no more than their bytes.
func unfold(list []Header, value []string) {
	if len(list) > 0 && len(value) > 1 {
		list[len(list)-1].Value = strings.TrimLeft(strings.Join(value, " "), " ")
	}
}

// sortedHeaders lists h by name, for protocols whose order is lost. More than
// maxHeaderFields are errTooManyFields.
func sortedHeaders(h http.Header) ([]Header, error) {
	list := make([]Header, 0, len(h))
	for name, values := range h {
		for _, value := range values {
			list = append(list, Header{toUTF8(name), toUTF8(value)})
		}
	}
	if len(list) > maxHeaderFields {
		return nil, errTooManyFields
	}
	slices.SortStableFunc(list, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// toUTF8 returns s if it is UTF-8, and otherwise reads it as ISO-8859-1, which
// field values historically are (RFC 9110 section 5.5). Records hold UTF-8.
func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
