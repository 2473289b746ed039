package parse

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// decoderOf returns the decoder of the encoding with a WHATWG name: that of
// golang.org/x/text but where the Encoding Standard decides otherwise.
func decoderOf(name string) *encoding.Decoder {
	switch name {
	case "gbk":
		// Encoding Standard 10.1.1: they differ in what they write.
		return simplifiedchinese.GB18030.NewDecoder()
	case "iso-8859-8-i":
		// Encoding Standard 9: it differs in the direction of the text.
		return decoderOf("iso-8859-8")
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		panic("parse: no encoding has the name " + name)
	}
	if table, ok := enc.(*charmap.Charmap); ok {
		return &encoding.Decoder{Transformer: singleByte{table}}
	}
	return enc.NewDecoder()
}

// singleByte decodes as the Encoding Standard's indexes have it (section 9): a byte
// of 0x80 to 0x9F that is no character of the encoding is the control of that
// number.
type singleByte struct{ table *charmap.Charmap }

func (singleByte) Reset() {}

func (d singleByte) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for _, b := range src {
		if b < utf8.RuneSelf {
			if nDst == len(dst) {
				return nDst, nSrc, transform.ErrShortDst
			}
			dst[nDst] = b
			nDst++
			nSrc++
			continue
		}
		r := d.table.DecodeByte(b)
		if r == utf8.RuneError && b < 0xA0 {
			r = rune(b)
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc++
	}
	return nDst, nSrc, nil
}
