package similar

import (
	"math/bits"
	"unicode/utf8"
)

// scanner makes features of a text. It keeps nothing of it and allocates
// nothing.
type scanner struct {
	words int
	last  uint64 // the word before, 0: none

	// line holds the features of a line as long as it is short.
	line        [longLine][2]uint64
	inLine      int // words of the line
	short, long tally

	numerals
}

// longLine is the number of words from which on a line says something of its
// own.
const longLine = 8

// read takes a text in.
func (s *scanner) read(text string) {
	var word uint64   // hash of the word so far; 0: none
	var number uint64 // value of the digits so far
	var last uint64   // the last four characters that parted no words
	digits, inWord := false, false
	for i := 0; i < len(text); {
		c := text[i]
		class := classes[c]
		switch {
		case class >= firstLetter:
			run, n := letters(text, i)
			word = join(word, run)
			i += n
			digits, inWord = false, true
			continue
		case class == isDigit:
			if !digits {
				word = join(word, isDigit)
				number, digits = 0, true
			}
			number = number*10 + uint64(c-'0')
			i++
			continue
		case class == isTwo && i+1 < len(text) && text[i+1]&0xc0 == 0x80:
			if folded := twoByte[(int(c)<<6|int(text[i+1]&0x3f))&0x7ff]; folded != 0 {
				word = join(word, uint64(folded))
				digits, inWord = false, true
				i += 2
				continue
			}
			i++ // and it ends the word
		case class == isMore:
			r, size := utf8.DecodeRuneInString(text[i:])
			switch k := kindOf(r); k {
			case inRun:
				word = join(word, uint64(r))
				digits, inWord = false, true
				i += size
				continue
			case twoOf, fourOf:
				if inWord {
					s.word(word)
				} else if digits {
					s.number(number)
				}
				last = last<<16 | uint64(uint16(r))
				s.word(join(0, last&lastOf[k]))
				word, digits, inWord = 0, false, false
				i += size
				continue
			}
			i += size - 1
		}
		if inWord {
			s.word(word)
		} else if digits {
			s.number(number)
		}
		word, last, digits, inWord = 0, 0, false, false
		if c == '\n' {
			s.endLine()
		}
		i++
	}
	if inWord {
		s.word(word)
	} else if digits {
		s.number(number)
	}
	s.endLine()
}

// join is the hash of a word and what follows: up to eight letters, or another
// character.
func join(word, next uint64) uint64 { return (bits.RotateLeft64(word, 29) ^ next) * 0x9e3779b97f4a7c15 }

// word takes the next word: its features are the word, and the word with the one
// before it.
func (s *scanner) word(hash uint64) {
	s.words++
	one := mix(hash, longLine)
	two := mix(hash, bits.RotateLeft64(s.last, 32))
	s.last = one
	if s.inLine >= longLine {
		s.long.add(one, two)
		return
	}
	s.line[s.inLine] = [2]uint64{one, two}
	if s.inLine++; s.inLine == longLine {
		s.pass(&s.long)
	}
}

func (s *scanner) endLine() {
	if s.inLine < longLine {
		s.pass(&s.short)
	}
	s.inLine = 0
}

// pass counts the features of the line's first words.
func (s *scanner) pass(t *tally) {
	for _, features := range s.line[:s.inLine] {
		t.add(features[0], features[1])
	}
}

// sim is the SimHash of what was read: each bit that is set in more than half of
// the features, by their weights.
func (s *scanner) sim() (hash uint64) {
	s.short.settle()
	s.long.settle()
	all := s.short.added + 2*s.long.added
	for i := range 64 {
		if set := s.short.count(i) + 2*s.long.count(i); 2*set > all {
			hash |= 1 << i
		}
	}
	return max(hash, 1) // 0 is none
}
