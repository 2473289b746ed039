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

// encoder encodes queries as the encoders of the WHATWG Encoding Standard do
// (https://encoding.spec.whatwg.org). The tables of x/text are the standard's. But its
// encoders also write codes that the standard only reads, and if a character has two
// codes, they do not always write the first.
type encoder struct {
	table *encoding.Encoder
	exceptions
	character [utf8.UTFMax]byte
	buffer    [8]byte
}

// exceptions are the differences between an encoder and the encoder of x/text.
type exceptions struct {
	codes     map[rune]string // instead of the codes of x/text
	from, end byte            // first bytes of codes that are read and never written
}

func newEncoder(name string, table encoding.Encoding) *encoder {
	e := &encoder{table: table.NewEncoder()}
	switch name {
	case "big5":
		e.exceptions = big5()
	case "euc-jp":
		e.exceptions = eucJP
	case "shift_jis":
		e.exceptions = shiftJIS()
	}
	return e
}

// eucJP reads JIS X 0212 behind 0x8F.
var eucJP = exceptions{from: 0x8f, end: 0x90, codes: map[rune]string{'¥': `\`, '‾': "~", '−': "\xa1\xdd"}}

// big5 reads Hong Kong's characters below 0xA1. Of these six it writes the last code.
var big5 = sync.OnceValue(func() exceptions {
	return exceptions{from: 0x81, end: 0xa1, codes: map[rune]string{
		'═': "\xf9\xf9", '╞': "\xf9\xe9", '╡': "\xf9\xeb", '╪': "\xf9\xea", '十': "\xa4\x51", '卅': "\xa4\xca",
	}}.withFirst(traditionalchinese.Big5)
})

// shiftJIS reads the extensions of IBM where NEC had put them, from 0xED, and what
// users defined, up to 0xF9.
var shiftJIS = sync.OnceValue(func() exceptions {
	return exceptions{from: 0xed, end: 0xfa, codes: map[rune]string{
		'\u0080': "\x80", '¥': `\`, '‾': "~", '−': "\x81\x7c",
	}}.withFirst(japanese.ShiftJIS)
})

// withFirst adds the first code of each character for which x/text writes another.
func (d exceptions) withFirst(table encoding.Encoding) exceptions {
	decoder, others := table.NewDecoder(), encoder{table: table.NewEncoder()}
	for n := 0x8140; n <= 0xfefe; n++ {
		code := []byte{byte(n >> 8), byte(n)}
		decoded, _ := decoder.Bytes(code) // U+FFFD if it is not a code
		r, size := utf8.DecodeRune(decoded)
		other := others.code(r)
		if _, known := d.codes[r]; known || d.onlyReads(code[0]) || size != len(decoded) || other == nil {
			continue
		}
		if d.onlyReads(other[0]) || bytes.Compare(code, other) < 0 {
			d.codes[r] = string(code)
		}
	}
	return d
}

// onlyReads reports whether codes with this first byte are read and never written.
func (d exceptions) onlyReads(first byte) bool { return d.from <= first && first < d.end }

// code is the code of a character, nil if it has no code. It is valid until the next call.
func (e *encoder) code(r rune) []byte {
	if code, otherwise := e.codes[r]; otherwise {
		return append(e.buffer[:0], code...)
	}
	size := utf8.EncodeRune(e.character[:], r)
	n, _, err := e.table.Transform(e.buffer[:], e.character[:size], true)
	if err != nil || e.onlyReads(e.buffer[0]) {
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

// appendCode appends the code of a character, percent-encoded byte for byte: an
// ASCII byte stays as it is, as in ISO-2022-JP. A character without
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
			out = AppendEscape(out, b)
		}
	}
	return out
}
