package urls

import (
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// TestEncoders compares the encoders that differ from x/text with the Encoding Standard, character
// by character.
func TestEncoders(t *testing.T) {
	for name, handler := range map[string]func(r rune) []byte{
		"big5": big5Handler(t), "euc-jp": eucJPHandler(t), "shift_jis": shiftJISHandler(t),
	} {
		encode, wrong := queryEncoderOf(name), 0
		for r := range rune(0x30000) {
			if !utf8.ValidRune(r) {
				continue
			}
			want := string(appendCode(nil, handler(r), r))
			if got := encode(string(r)); got != want && wrong < 20 {
				wrong++
				t.Errorf("%s: %U is %s, want %s", name, r, got, want)
			}
		}
	}
}

// readIndex is an index of the standard, the code point at each pointer, which
// the decoders of x/text know; 0 where there is none.
func readIndex(t *testing.T, name string, pointers int, code func(pointer int) []byte) []rune {
	t.Helper()
	table, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	index := make([]rune, pointers)
	for pointer := range index {
		decoded, err := table.NewDecoder().Bytes(code(pointer))
		if err != nil {
			t.Fatal(err)
		}
		if r, size := utf8.DecodeRune(decoded); size == len(decoded) && r != utf8.RuneError {
			index[pointer] = r
		}
	}
	return index
}

// pointersOf turns an index around: the first pointer of each code point, without
// those from one to before another.
func pointersOf(index []rune, from, end int) map[rune]int {
	pointers := map[rune]int{}
	for pointer, r := range index {
		if _, known := pointers[r]; r != 0 && !known && (pointer < from || pointer >= end) {
			pointers[r] = pointer
		}
	}
	return pointers
}

// big5Handler is the handler of the standard's Big5 encoder, nil for an error.
func big5Handler(t *testing.T) func(r rune) []byte {
	t.Helper()
	code := func(pointer int) []byte {
		lead, trail := pointer/157+0x81, pointer%157
		if trail < 0x3f {
			return []byte{byte(lead), byte(trail + 0x40)}
		}
		return []byte{byte(lead), byte(trail + 0x62)}
	}
	index := readIndex(t, "big5", 126*157, code)
	pointers := pointersOf(index, 0, (0xa1-0x81)*157)
	for pointer, r := range index {
		switch r {
		case 0x2550, 0x255e, 0x2561, 0x256a, 0x5341, 0x5345:
			pointers[r] = pointer
		}
	}
	return func(r rune) []byte {
		pointer, has := pointers[r]
		switch {
		case r < 0x80:
			return []byte{byte(r)}
		case !has:
			return nil
		}
		return code(pointer)
	}
}

// shiftJISCode is the code of a pointer of index jis0208.
func shiftJISCode(pointer int) []byte {
	lead, trail := pointer/188, pointer%188
	leadOffset, offset := 0xc1, 0x41
	if lead < 0x1f {
		leadOffset = 0x81
	}
	if trail < 0x3f {
		offset = 0x40
	}
	return []byte{byte(lead + leadOffset), byte(trail + offset)}
}

// readJIS0208 is index jis0208, without the characters that users define.
func readJIS0208(t *testing.T) []rune {
	t.Helper()
	index := readIndex(t, "shift_jis", 60*188, shiftJISCode)
	clear(index[8836:10716])
	return index
}

// eucJPHandler is the handler of the standard's EUC-JP encoder.
func eucJPHandler(t *testing.T) func(r rune) []byte {
	t.Helper()
	pointers := pointersOf(readJIS0208(t), 0, 0)
	return func(r rune) []byte {
		switch {
		case r < 0x80:
			return []byte{byte(r)}
		case r == 0xa5:
			return []byte{0x5c}
		case r == 0x203e:
			return []byte{0x7e}
		case 0xff61 <= r && r <= 0xff9f:
			return []byte{0x8e, byte(r - 0xff61 + 0xa1)}
		case r == 0x2212:
			r = 0xff0d
		}
		pointer, has := pointers[r]
		if !has {
			return nil
		}
		return []byte{byte(pointer/94 + 0xa1), byte(pointer%94 + 0xa1)}
	}
}

// shiftJISHandler is the handler of the standard's Shift_JIS encoder.
func shiftJISHandler(t *testing.T) func(r rune) []byte {
	t.Helper()
	pointers := pointersOf(readJIS0208(t), 8272, 8836)
	return func(r rune) []byte {
		switch {
		case r <= 0x80:
			return []byte{byte(r)}
		case r == 0xa5:
			return []byte{0x5c}
		case r == 0x203e:
			return []byte{0x7e}
		case 0xff61 <= r && r <= 0xff9f:
			return []byte{byte(r - 0xff61 + 0xa1)}
		case r == 0x2212:
			r = 0xff0d
		}
		pointer, has := pointers[r]
		if !has {
			return nil
		}
		return shiftJISCode(pointer)
	}
}
