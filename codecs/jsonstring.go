package codecs

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// appendString appends s as a JSON string, escaped as encoding/json does with
// HTML escaping off: quotes, backslashes and control characters, U+2028 and
// U+2029, and invalid UTF-8 as \ufffd.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	const short, letters = "\"\\\n\t\r\f\b", `"\ntrfb` // characters with a short escape, such as \n, and its letter
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			n := plainPrefix(s[i : i+8])
			if i += n; n == 8 {
				continue
			}
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(append(dst, s[start:i]...), `\ufffd`...)
				start = i + size
			case r == '\u2028' || r == '\u2029':
				dst = append(append(dst, s[start:i]...), `\u202`...)
				dst = append(dst, hex[r&0xF])
				start = i + size
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = append(dst, s[start:i]...)
			if at := strings.IndexByte(short, c); at >= 0 {
				dst = append(dst, '\\', letters[at])
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
			}
			start = i + 1
		}
		i++
	}
	return append(append(dst, s[start:]...), '"')
}

// plainPrefix returns how many of the first eight bytes of s are ASCII that
// needs no escape. It looks at all of them at once: a byte's high bit is set in
// one of the four words where the byte is not ASCII or is below the space, the
// quote or the backslash (Mycroft, "zero byte in a word"). Borrows spoil only
// the bytes above the first one found.
func plainPrefix(s string) int {
	_ = s[7]
	word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	const ones, high = 0x0101010101010101, 0x8080808080808080
	control := word - ones*' '
	quote := (word ^ ones*'"') - ones
	backslash := (word ^ ones*'\\') - ones
	// Without a find this is TrailingZeros64(0)/8, which is 8.
	return bits.TrailingZeros64((word|control|quote|backslash)&high) / 8
}

// appendMember appends a member whose value is a string, unless it is empty.
// Key is everything up to the value, comma included.
func appendMember(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendString(append(dst, key...), value)
}

func appendFlag(dst []byte, member string, set bool) []byte {
	if !set {
		return dst
	}
	return append(dst, member...)
}

func appendComma(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ',')
}
