package simhash

import (
	"math/bits"
	"unicode"
)

// Classes of bytes. What is firstLetter or more is a letter of ASCII, in lower
// case.
const (
	isOther = iota
	isDigit
	isTwo  // the first byte of a character of two
	isMore // the first byte of a character of three or four
	firstLetter
)

var classes = byteClasses()

func byteClasses() (table [256]uint8) {
	for c := range table {
		switch {
		case c >= '0' && c <= '9':
			table[c] = isDigit
		case c >= 'a' && c <= 'z':
			table[c] = uint8(c)
		case c >= 'A' && c <= 'Z':
			table[c] = uint8(c) + 'a' - 'A'
		case c >= 0xc2 && c <= 0xdf:
			table[c] = isTwo
		case c >= 0xe0 && c <= 0xf4:
			table[c] = isMore
		}
	}
	return table
}

// letters returns the letters of ASCII that text has from i on, in lower case, the
// first in the lowest byte, and their number, at most eight. All bytes of a word are
// looked at in one step: that is most of what a fingerprint costs.
func letters(text string, i int) (run uint64, n int) {
	if i+8 > len(text) {
		for ; i+n < len(text) && classes[text[i+n]] >= firstLetter; n++ {
			run |= uint64(classes[text[i+n]]) << (8 * n)
		}
		return run, n
	}
	s := text[i : i+8]
	all := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	const each, top = 0x0101010101010101, 0x80 * 0x0101010101010101
	lower := all | 0x20*each
	low := lower &^ top
	// The top bit of each byte says in the first term that the byte is below "a", in the
	// second that it is beyond "z", and in the third that it is not ASCII.
	none := ^(low + (0x80-'a')*each) | (low + (0x80-'z'-1)*each) | all
	n = bits.TrailingZeros64(none&top) / 8
	if n == 8 {
		return lower, n
	}
	return lower & (1<<(8*n) - 1), n
}

// twoByte has the letters of U+0080 to U+07FF in lower case, by their low eleven
// bits; 0: no letter.
var twoByte = twoByteLetters()

func twoByteLetters() (table [0x800]uint16) {
	for r := rune(0x80); r < 0x800; r++ {
		if unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd) {
			table[r] = uint16(unicode.ToLower(r))
		}
	}
	return table
}

// kind says how a character beyond U+07FF makes words.
type kind uint8

const (
	parts  kind = iota // it does not
	inRun              // with its neighbours
	twoOf              // with the one before: its script does not part words
	fourOf             // with the three before, for there are fewer in its script
)

// lastOf masks what makes a word of the last characters, 16 bits each.
var lastOf = [...]uint64{twoOf: 1<<32 - 1, fourOf: 1<<64 - 1}

// kindOf is a rough look at blocks of Unicode, which is what texts consist of;
// letters in the blocks of symbols are rare.
func kindOf(r rune) kind {
	switch {
	case r < 0x0e00: // scripts of India
		return inRun
	case r < 0x0f00, r >= 0x1000 && r < 0x10a0, r >= 0x1780 && r < 0x1800: // Thai, Lao, Myanmar, Khmer
		return fourOf
	case r < 0x2000: // Tibetan to extended Greek
		return inRun
	case r < 0x2c00, r >= 0x2e00 && r < 0x3040 && r != 0x3005 && r != 0x3007, r >= 0xd800 && r < 0xf900,
		r >= 0xfe10 && r < 0xfe70, r == 0xfffd: // punctuation, symbols, private use
		return parts
	case r < 0x2e00:
		return inRun
	case r < 0x3100: // kana
		return fourOf
	case r < 0xac00, r >= 0xf900 && r < 0xfb00: // Han
		return twoOf
	case r < 0xff00: // Hangul, Arabic presentation forms
		return inRun
	case r < 0x10000: // half-width and full-width forms
		if unicode.IsLetter(r) {
			return twoOf
		}
		return parts
	case r >= 0x20000 && r < 0x40000: // Han
		return twoOf
	case r >= 0x1f000: // pictures
		return parts
	}
	return inRun
}

// numerals counts words of nothing but digits, which make no features.
type numerals struct {
	numbers int
	// seen has a bit for each different number, or several that share it.
	seen [4]uint64
	// days is how far the numbers count from one, whatever lies between them.
	days uint64
}

const (
	// gridDays is how far every month counts.
	gridDays = 28
	// mostOfCalendar is more different numbers than a calendar has: days, weeks,
	// hours, minutes, and some years. One with a list of many years to choose from is
	// taken for a table.
	mostOfCalendar = 64
)

func (n *numerals) number(value uint64) {
	n.numbers++
	slot := value * 0x9e3779b97f4a7c15 >> 56
	n.seen[slot/64] |= 1 << (slot % 64)
	if value == n.days+1 {
		n.days++
	}
}

// isGrid tells whether the days of a month are there.
func (n *numerals) isGrid() bool { return n.days >= gridDays }

// isTable tells whether there are more numbers than words, and more different ones
// than in any calendar.
func (n *numerals) isTable(words int) bool {
	different := 0
	for _, slots := range n.seen {
		different += bits.OnesCount64(slots)
	}
	return n.numbers > words && different > mostOfCalendar
}
