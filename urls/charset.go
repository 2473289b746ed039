package urls

import (
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// charset writes the queries of a document that is not in UTF-8: their bytes
// are those of the document's encoding (WHATWG URL, query state), while paths
// are always UTF-8.
type charset struct{ encode func(query string) string }

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
	case canonical == "iso-2022-jp":
		return &charset{encode: encodeISO2022JP}
	default:
		return &charset{encode: newEncoder(canonical, enc).encode}
	}
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
