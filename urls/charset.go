package urls

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// charset writes the queries of a document that is not in UTF-8: their bytes
// are those of the document's encoding (WHATWG URL, query state), while paths
// are always UTF-8.
type charset struct{ encoding encoding.Encoding }

// charsetNamed is nil for UTF-8, for what is written in UTF-8 although it is
// read otherwise (WHATWG Encoding, get an output encoding), and for names that
// are not known.
func charsetNamed(name string) *charset {
	if name == "" {
		return nil
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	switch canonical, err := htmlindex.Name(enc); {
	case err != nil, canonical == "utf-8", canonical == "utf-16le", canonical == "utf-16be", canonical == "replacement":
		return nil
	}
	return &charset{encoding: enc}
}

// encodeQuery returns a trimmed reference with the query in the encoding,
// percent-encoded where it is not ASCII. A query of nothing but ASCII stays.
func (c *charset) encodeQuery(ref string) string {
	start := strings.IndexAny(ref, "?#")
	if start < 0 || ref[start] == '#' {
		return ref
	}
	query, fragment := ref[start+1:], ""
	if hash := strings.IndexByte(query, '#'); hash >= 0 {
		query, fragment = query[:hash], query[hash:]
	}
	if isASCII(query) {
		return ref
	}
	// No longer query than this is handed to the parser.
	if len(cutFragment(ref)) > maxRawBytes || refuseScheme(ref) != Accepted {
		return ref
	}
	return ref[:start+1] + c.encode(tabsAndNewlines.Replace(query)) + fragment
}

// encode is "percent-encode after encoding" with the special-query set. A
// character that the encoding lacks becomes its decimal reference, "&#931;",
// percent-encoded.
func (c *charset) encode(query string) string {
	var (
		out     []byte
		buffer  [256]byte
		encoder = c.encoding.NewEncoder()
		rest    = []byte(query)
	)
	for {
		written, read, err := encoder.Transform(buffer[:], rest, true)
		for _, b := range buffer[:written] {
			// Bytes stand for themselves here, as ISO-2022-JP shows.
			if b < utf8.RuneSelf && (queryClass[b] == keep || queryClass[b] == percent) {
				out = append(out, b)
			} else {
				out = appendEscape(out, b)
			}
		}
		rest = rest[read:]
		switch {
		case err == transform.ErrShortDst:
		case err == nil || len(rest) == 0:
			return string(out)
		default:
			r, size := utf8.DecodeRune(rest)
			out = append(out, "%26%23"...)
			out = strconv.AppendInt(out, int64(r), 10)
			out = append(out, "%3B"...)
			rest = rest[size:]
		}
	}
}
