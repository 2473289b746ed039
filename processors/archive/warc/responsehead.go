package warc

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// responseHead is the status line and the headers of a response. They are as they came, if that is
// known, except for the fields that are not true of the stored body. In a response that has no body by
// its status (RFC 9110 section 6.4.1) only Transfer-Encoding is renamed: Content-Length and
// Content-Encoding say something of another response.
func responseHead(f *weftpb.Fetched) []byte {
	head := f.GetResponseHead()
	if len(head) == 0 {
		head = writtenHead(f)
	}
	if status := f.GetOutcome().GetStatus(); status == http.StatusNoContent || status == http.StatusNotModified {
		return renameFields(head, "", isTransferEncoding)
	}
	return storedHead(head, len(payload(f)), len(f.GetCodedBody()) > 0)
}

// writtenHead is a head that is not known as text.
func writtenHead(f *weftpb.Fetched) []byte {
	status := int(f.GetOutcome().GetStatus())
	b := []byte("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	for _, h := range f.GetHeaders() {
		b = appendField(b, h.GetName(), h.GetValue())
	}
	return append(b, '\r', '\n')
}

// renamed is the prefix of fields that are not true of the stored body.
const renamed = "X-Weft-Orig-"

// storedHead is the head of a response as it came, if it is true of the stored body. Else the fields
// that are not true are renamed, and each Content-Length, and a Content-Length is added at the end.
// coded: the body has its content codings. OriginalHead undoes it.
func storedHead(head []byte, bodyBytes int, coded bool) []byte {
	length := strconv.Itoa(bodyBytes)
	untrue := func(line []byte) bool {
		if value, is := valueOf(line, "Content-Length"); is {
			return string(value) != length
		}
		if _, is := valueOf(line, "Content-Encoding"); is {
			return !coded
		}
		return isTransferEncoding(line)
	}
	for line := range bytes.Lines(head) {
		if untrue(line) {
			return renameFields(head, lengthField+length, func(line []byte) bool {
				_, isLength := valueOf(line, "Content-Length")
				return isLength || untrue(line)
			})
		}
	}
	return head
}

// renameFields renames some fields of a head, and adds a field at its end.
func renameFields(head []byte, added string, which func(line []byte) bool) []byte {
	b := make([]byte, 0, len(head)+64)
	for line := range bytes.Lines(head) {
		switch end := len(bytes.TrimRight(line, "\r\n")) == 0; {
		case end && added != "":
			b = append(append(b, added...), line...)
		case which(line):
			b = append(b, renamed...)
		}
		b = append(b, line...)
	}
	return b
}

const lengthField = "Content-Length: "

func isTransferEncoding(line []byte) bool {
	_, is := valueOf(line, "Transfer-Encoding")
	return is
}

// valueOf returns the value of the field in a line, if it is the field of that name.
func valueOf(line []byte, field string) (value []byte, is bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if !bytes.EqualFold(name, []byte(field)) {
		return nil, false
	}
	return bytes.TrimSpace(value), true
}

// OriginalHead is the head of a response as it came, of the head in its record: fields have their
// names again, and the Content-Length that was added with them is left out. A 304 or 204 with both
// Transfer-Encoding and Content-Length, which HTTP forbids, may miss the latter.
func OriginalHead(stored []byte) []byte {
	var lines [][]byte
	changed := false
	for line := range bytes.Lines(stored) {
		original, is := bytes.CutPrefix(line, []byte(renamed))
		changed = changed || is
		lines = append(lines, original)
	}
	last := len(lines) - 2 // before the empty line
	if changed && last > 0 && bytes.HasPrefix(lines[last], []byte(lengthField)) {
		lines = slices.Delete(lines, last, last+1)
	}
	return bytes.Join(lines, nil)
}
