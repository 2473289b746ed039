package urls

import (
	"bytes"
	"strconv"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// encoder writes queries as the encoders of the WHATWG Encoding Standard do
// (https://encoding.spec.whatwg.org). The tables of x/text are the standard's, but
// its encoders write whatever they read, and of two codes not always the first.
type encoder struct {
	table *encoding.Encoder
	dialect
	character [utf8.UTFMax]byte
	buffer    [8]byte
}

// dialect is what an encoder does otherwise than that of x/text.
type dialect struct {
	codes     map[rune]string // instead of what x/text writes
	from, end byte            // leads of what is read and never written
}

func newEncoder(name string, table encoding.Encoding) *encoder {
	e := &encoder{table: table.NewEncoder()}
	switch name {
	case "big5":
		e.dialect = big5()
	case "euc-jp":
		e.dialect = eucJP
	case "shift_jis":
		e.dialect = shiftJIS()
	}
	return e
}

// eucJP reads JIS X 0212 behind 0x8F.
var eucJP = dialect{from: 0x8f, end: 0x90, codes: map[rune]string{'¥': `\`, '‾': "~", '−': "\xa1\xdd"}}

// big5 reads Hong Kong's characters below 0xA1. Of these six it writes the last code.
var big5 = sync.OnceValue(func() dialect {
	return dialect{from: 0x81, end: 0xa1, codes: map[rune]string{
		'═': "\xf9\xf9", '╞': "\xf9\xe9", '╡': "\xf9\xeb", '╪': "\xf9\xea", '十': "\xa4\x51", '卅': "\xa4\xca",
	}}.withFirst(traditionalchinese.Big5)
})

// shiftJIS reads the extensions of IBM where NEC had put them, from 0xED, and what
// users defined, up to 0xF9.
var shiftJIS = sync.OnceValue(func() dialect {
	return dialect{from: 0xed, end: 0xfa, codes: map[rune]string{
		'\u0080': "\x80", '¥': `\`, '‾': "~", '−': "\x81\x7c",
	}}.withFirst(japanese.ShiftJIS)
})

// withFirst adds the first code of each character for which x/text writes another.
func (d dialect) withFirst(table encoding.Encoding) dialect {
	decoder, others := table.NewDecoder(), encoder{table: table.NewEncoder()}
	for n := 0x8140; n <= 0xfefe; n++ {
		code := []byte{byte(n >> 8), byte(n)}
		decoded, _ := decoder.Bytes(code) // U+FFFD if it is none
		r, size := utf8.DecodeRune(decoded)
		other := others.code(r)
		if _, known := d.codes[r]; known || d.reads(code[0]) || size != len(decoded) || other == nil {
			continue
		}
		if d.reads(other[0]) || bytes.Compare(code, other) < 0 {
			d.codes[r] = string(code)
		}
	}
	return d
}

// reads reports whether what has a lead is read and never written.
func (d dialect) reads(lead byte) bool { return d.from <= lead && lead < d.end }

// code is what stands for a character, nil if the encoding lacks it. It is good
// until the next call.
func (e *encoder) code(r rune) []byte {
	if code, otherwise := e.codes[r]; otherwise {
		return append(e.buffer[:0], code...)
	}
	size := utf8.EncodeRune(e.character[:], r)
	n, _, err := e.table.Transform(e.buffer[:], e.character[:size], true)
	if err != nil || e.reads(e.buffer[0]) {
		return nil
	}
	return e.buffer[:n]
}

// encode is "percent-encode after encoding" with the special-query set.
func (e *encoder) encode(query string) string {
	out := make([]byte, 0, 2*len(query))
	for _, r := range query {
		out = appendCode(out, e.code(r), r)
	}
	return string(out)
}

// appendCode appends the code of a character, percent-encoded byte for byte: a
// byte that is ASCII stands for itself, as ISO-2022-JP shows. A character without
// a code becomes its decimal reference, "&#931;", percent-encoded.
func appendCode(out, code []byte, r rune) []byte {
	if code == nil {
		out = append(out, "%26%23"...)
		out = strconv.AppendInt(out, int64(r), 10)
		return append(out, "%3B"...)
	}
	for _, b := range code {
		if b < utf8.RuneSelf && (queryClass[b] == keep || queryClass[b] == percent) {
			out = append(out, b)
		} else {
			out = appendEscape(out, b)
		}
	}
	return out
}
