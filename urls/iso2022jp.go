package urls

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

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
			r = utf8.RuneError // a change of the set that nobody would know of
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
