package httpclient

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"
)

// Header is one field line of a request or response, in valid UTF-8.
type Header struct {
	Name  string
	Value string
}

// headerBlock keeps the header of an HTTP/1.1 response as it is read, with its order and
// spelling, which http.Header loses. Interim responses (1xx) before it are left out.
type headerBlock struct {
	text     []byte
	limit    int
	complete bool
	overrun  bool  // it is longer than limit, and was given up
	end      error // of the connection, before the header ended

	request []byte // what was written for it
}

// maxHeadBytes is the longest head whose bytes an exchange keeps: a record has these bytes
// besides the fields.
const maxHeadBytes = 64 << 10

// kept returns a head, or nil if it is too long to be kept.
func kept(head []byte) []byte {
	if len(head) > maxHeadBytes {
		return nil
	}
	return head
}

// isHTTP reports whether the text so far can be the beginning of a response.
func (h *headerBlock) isHTTP() bool {
	const version = "HTTP/1."
	return len(h.text) > 0 && string(h.text[:min(len(h.text), len(version))]) == version[:min(len(h.text), len(version))]
}

// feed takes the next bytes read, and mends in them what net/http refuses ([mend]). done tells that
// no more are needed.
func (h *headerBlock) feed(b []byte) (done bool) {
	for {
		from := max(0, len(h.text)-3)
		// Enough for any header that fits, and not the body that follows it.
		take := min(len(b), h.limit-len(h.text))
		if end := headerEnd(b[:take], 0); end >= 0 {
			take = end // the body that follows may be 4 KiB
		}
		behindLine := len(h.text) > 0 && h.text[len(h.text)-1] == '\n'
		h.text = append(h.text, b[:take]...)
		end := headerEnd(h.text, from)
		if end < 0 {
			mend(b[:take], behindLine)
			h.overrun = take < len(b)
			return h.overrun
		}
		of := take - (len(h.text) - end)
		mend(b[:of], behindLine)
		b = b[of:]
		h.text = h.text[:end]
		if !isInterim(h.text) {
			h.complete = true
			return true
		}
		h.text = h.text[:0]
	}
}

// mend changes fields that net/http refuses and browsers ignore, in place, in bytes of a header. The
// first line counts only if the bytes are behind a line: otherwise it is the status, or the end of a
// field. A field that comes in two reads is not found.
//
//   - Transfer-Encoding: identity means no transfer coding (RFC 2616 section 3.6). Some servers still
//     send it.
//   - Transfer-Encoding: chunked in two fields means one coding: an application behind a proxy sets
//     what its server sets, too.
//   - Content-Length: 5, 5 means one length (RFC 9112 section 6.3).
//   - Bytes that cannot stand in a name, such as quotation marks, become "_", which no name of ours has.
//     Control characters stay, and are bad_response.
func mend(head []byte, behindLine bool) {
	chunked := false
	for line := range bytes.Lines(head) {
		if !behindLine {
			behindLine = true
			continue
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || !bytes.HasSuffix(value, []byte("\n")) || line[0] == ' ' || line[0] == '\t' {
			continue // it is not a whole field, or it continues one
		}
		if bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			coding := bytes.TrimSpace(value)
			isChunked := bytes.EqualFold(coding, []byte("chunked"))
			if isChunked && chunked || bytes.EqualFold(coding, []byte("identity")) {
				name[0] = 'X'
			}
			chunked = chunked || isChunked
		} else if bytes.EqualFold(name, []byte("Content-Length")) {
			blankRepeated(value)
		}
		for i, c := range name {
			if c > ' ' && c != 0x7f && !httpguts.IsTokenRune(rune(c)) {
				name[i] = '_'
			}
		}
	}
}

// blankRepeated leaves the first item of a list whose items are the same. Blanks take the place of the others.
func blankRepeated(list []byte) {
	first, rest, _ := bytes.Cut(list, []byte(","))
	for item := range bytes.SplitSeq(bytes.TrimSpace(rest), []byte(",")) {
		if item = bytes.TrimSpace(item); len(item) == 0 || !bytes.Equal(item, bytes.TrimSpace(first)) {
			return
		}
	}
	for i := len(first); i < len(list) && list[i] != '\r' && list[i] != '\n'; i++ {
		list[i] = ' '
	}
}

// headerEnd returns the index after the empty line that ends a header; -1 if there is no such
// line. Lines may end in LF alone (RFC 9112 section 2.2).
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

// isInterim reports whether the block's status is 1xx other than 101. After 101 no HTTP
// follows.
func isInterim(block []byte) bool {
	_, status, _ := bytes.Cut(block, []byte(" "))
	return len(status) >= 3 && status[0] == '1' && string(status[:3]) != "101"
}

// headers returns the fields; nil when the block is not complete. The error is
// errTooManyFields when there are more than maxHeaderFields lines. A folded field has several
// lines.
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

// unfold gives the last field of list the lines of its value if it has several: a folded line
// continues the line before (RFC 9112 section 5.2). Lines that are joined once cost no more
// than their bytes.
func unfold(list []Header, value []string) {
	if len(list) > 0 && len(value) > 1 {
		list[len(list)-1].Value = strings.TrimLeft(strings.Join(value, " "), " ")
	}
}

// sortedHeaders lists h by name, for protocols whose order is lost. The error is
// errTooManyFields when there are more than maxHeaderFields.
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

// toUTF8 returns s if it is UTF-8. Otherwise it reads s as ISO-8859-1, the historical encoding
// of field values (RFC 9110 section 5.5). Records have only UTF-8.
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
