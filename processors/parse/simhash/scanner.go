package simhash

import (
	"math/bits"
	"unicode/utf8"
)

// scanner makes the features of a text. It keeps no part of the text and allocates nothing.
type scanner struct {
	words  int
	last   uint64    // the word before, 0: none
	behind uint64    // the digits behind its letters
	pairs  [2]uint64 // the last pairs of words with such digits, the last one first

	// line holds the features of a line as long as it is short.
	line        [longLine]features
	inLine      int // words of the line
	short, long tally
	runs        minima

	numerals
}

// longLine is the number of words from which on a line is taken for what the page says,
// and not for navigation.
const longLine = 8

// longCounts is how often a run of words in a long line counts.
const longCounts = 4

// runWords is how many words make a run.
const runWords = 4

// features of a word are the word, the word with the one before it, and the run of words
// that ends with it.
type features struct{ one, two, run uint64 }

// read adds a text.
func (s *scanner) read(text string) {
	var word uint64   // hash of the word so far; 0: none
	var number uint64 // value of the digits so far
	var behind uint64 // hash of the digits behind letters of the word
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
			if inWord {
				behind = join(behind, uint64(c))
			}
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
					s.word(word, behind)
				} else if digits {
					s.number(number)
				}
				last = last<<16 | uint64(uint16(r))
				s.word(join(0, last&lastOf[k]), 0)
				word, behind, digits, inWord = 0, 0, false, false
				i += size
				continue
			}
			i += size - 1
		}
		if inWord {
			s.word(word, behind)
		} else if digits {
			s.number(number)
		}
		word, behind, last, digits, inWord = 0, 0, 0, false, false
		if c == '\n' {
			s.endLine()
		}
		i++
	}
	if inWord {
		s.word(word, behind)
	} else if digits {
		s.number(number)
	}
	s.endLine()
}

// join is the hash of a word and what follows it: up to eight letters, or another
// character.
func join(word, next uint64) uint64 { return (bits.RotateLeft64(word, 29) ^ next) * 0x9e3779b97f4a7c15 }

// word takes the next word, with the hash of the digits behind its letters.
func (s *scanner) word(hash, behind uint64) {
	s.words++
	f := features{one: mix(hash, longLine), two: mix(hash, bits.RotateLeft64(s.last, 32))}
	pair := f.two + behind + bits.RotateLeft64(s.behind, 32)
	f.run = mix(pair, bits.RotateLeft64(s.pairs[1], 17))
	s.last, s.behind, s.pairs = f.one, behind, [2]uint64{pair, s.pairs[0]}
	if s.inLine >= longLine {
		s.inLong(f)
		return
	}
	s.line[s.inLine] = f
	if s.inLine++; s.inLine == longLine {
		for i, f := range s.line {
			if i < runWords-1 { // the run begins in the line before
				s.long.add(f.one, f.two)
				s.runs.add(f.run)
				continue
			}
			s.inLong(f)
		}
	}
}

// inLong counts the features of a word whose run is in a long line.
func (s *scanner) inLong(f features) {
	s.long.add(f.one, f.two)
	s.runs.add(f.run)
	for i := uint64(1); i < longCounts; i++ {
		s.runs.add(mix(f.run, i))
	}
}

func (s *scanner) endLine() {
	if s.inLine < longLine {
		for _, f := range s.line[:s.inLine] {
			s.short.add(f.one, f.two)
			s.runs.add(f.run)
		}
	}
	s.inLine = 0
}

// minHash is the MinHash of what was read, which has a word at least. In a few words, which
// are the grid of a month, every word changes all bins.
func (s *scanner) minHash() MinHash {
	if s.words < MinWords {
		return s.runs.whole()
	}
	return s.runs.minHash()
}

// sim is the SimHash of what was read. A bit is set if it is set in more than half of the
// features, by their weights.
func (s *scanner) sim() (hash uint64) {
	s.short.settle()
	s.long.settle()
	all := s.short.added + 2*s.long.added
	for i := range 64 {
		if set := s.short.count(i) + 2*s.long.count(i); 2*set > all {
			hash |= 1 << i
		}
	}
	return max(hash, 1) // 0 means that there is no SimHash
}
