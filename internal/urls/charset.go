package urls

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
)

// queryEncoder encodes the queries of a document that is not in UTF-8: their bytes are in
// the document's encoding (WHATWG URL, query state). Paths are always UTF-8.
type queryEncoder func(query string) string

// queryEncoderOf is nil for UTF-8, for encodings whose queries are written in UTF-8
// (WHATWG Encoding, get an output encoding), and for names that are not known.
func queryEncoderOf(name string) queryEncoder {
	enc, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	switch canonical, err := htmlindex.Name(enc); {
	case err != nil, canonical == "utf-8", canonical == "utf-16le", canonical == "utf-16be", canonical == "replacement":
		return nil
	case canonical == "iso-2022-jp":
		return encodeISO2022JP
	default:
		return newEncoder(canonical, enc).encode
	}
}

// inReference returns a trimmed reference with its query in the encoding,
// percent-encoded where it is not ASCII. A query that is all ASCII stays.
func (encode queryEncoder) inReference(ref string) string {
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
	// The parser refuses these.
	if len(cutFragment(ref)) > maxRawBytes || refuseScheme(ref) != Accepted {
		return ref
	}
	return ref[:start+1] + encode(tabsAndNewlines.Replace(query)) + fragment
}

// The escape sequences of ISO-2022-JP, each for the set that it opens.
const (
	setASCII   = "\x1b(B"
	setRoman   = "\x1b(J" // ASCII with "¥" for "\" and "‾" for "~"
	setJIS0208 = "\x1b$B"
)

// fullWidth has the characters for U+FF61 and those after it, half-width katakana
// (WHATWG Encoding, index ISO-2022-JP katakana).
var fullWidth = []rune("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜")

// encodeISO2022JP is encode for ISO-2022-JP, which has the codes of EUC-JP in
// seven bits, between escape sequences.
func encodeISO2022JP(query string) string {
	var (
		out   = make([]byte, 0, 2*len(query))
		eucJP = newEncoder("euc-jp", japanese.EUCJP)
		set   = setASCII
	)
	open := func(next string) {
		if next != set {
			out = appendCode(out, []byte(next), 0)
			set = next
		}
	}
	for _, r := range query {
		switch half := int(r) - 0xff61; {
		case r == 0x0e, r == 0x0f, r == 0x1b:
			r = utf8.RuneError // it would change the set
		case 0 <= half && half < len(fullWidth):
			r = fullWidth[half]
		}
		code := eucJP.code(r)
		switch {
		case r == '¥', r == '‾':
			open(setRoman)
		case code != nil && r >= utf8.RuneSelf:
			open(setJIS0208)
		case set != setRoman, r == '\\', r == '~':
			open(setASCII)
		}
		for i := range code {
			code[i] &= 0x7f
		}
		out = appendCode(out, code, r)
	}
	open(setASCII)
	return string(out)
}
