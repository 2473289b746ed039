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
	line        [2 * longLine]uint64
	held, inRow int // features held, words of the line
	short, long tally
}

// longLine is the number of words from which on a line says something of its
// own.
const longLine = 8

// read takes a text in.
func (s *scanner) read(text string) {
	var word uint64 // hash of the word so far; 0: none
	digits, letters := false, false
	for i := 0; i < len(text); {
		c := text[i]
		class := classes[c]
		switch {
		case class >= firstLetter:
			word = (word ^ uint64(class)) * wordPrime
			digits, letters = false, true
			i++
			continue
		case class == isDigit:
			if !digits {
				word = (word ^ isDigit) * wordPrime
				digits = true
			}
			i++
			continue
		case class == isTwo && i+1 < len(text) && text[i+1]&0xc0 == 0x80:
			if folded := twoByte[(int(c)<<6|int(text[i+1]&0x3f))&0x7ff]; folded != 0 {
				word = (word ^ uint64(folded)) * wordPrime
				digits, letters = false, true
				i += 2
				continue
			}
			i++ // and it ends the word
		case class == isMore:
			r, size := utf8.DecodeRuneInString(text[i:])
			switch kindOf(r) {
			case inRun:
				word = (word ^ uint64(r)) * wordPrime
				digits, letters = false, true
				i += size
				continue
			case alone:
				if letters {
					s.word(word)
				}
				s.word(uint64(r) * wordPrime)
				word, digits, letters = 0, false, false
				i += size
				continue
			}
			i += size - 1
		}
		if letters {
			s.word(word)
		}
		word, digits, letters = 0, false, false
		if c == '\n' {
			s.endLine()
		}
		i++
	}
	if letters {
		s.word(word)
	}
	s.endLine()
}

// wordPrime is that of FNV-1a for 64 bits.
const wordPrime = 0x100000001b3

// word takes the next word.
func (s *scanner) word(hash uint64) {
	s.words++
	one := mix(hash, uint64(longLine))
	two := mix(hash, bits.RotateLeft64(s.last, 32))
	first := s.last == 0
	s.last = one
	s.inRow++
	if s.inRow > longLine {
		s.long.add(one)
		s.long.add(two)
		return
	}
	s.line[s.held] = one
	s.held++
	if !first {
		s.line[s.held] = two
		s.held++
	}
	if s.inRow == longLine {
		s.flush(&s.long)
	}
}

func (s *scanner) endLine() {
	s.flush(&s.short)
	s.inRow = 0
}

func (s *scanner) flush(t *tally) {
	for _, feature := range s.line[:s.held] {
		t.add(feature)
	}
	s.held = 0
}

// sim is the SimHash of what was read: each bit that is set in more than half of
// the features, by their weights.
func (s *scanner) sim() (hash uint64) {
	s.short.fold()
	s.long.fold()
	all := s.short.added + 2*s.long.added
	for i := range 64 {
		if set := s.short.count(i) + 2*s.long.count(i); 2*set > all {
			hash |= 1 << i
		}
	}
	return max(hash, 1) // 0 is none
}
