package language

import (
	"strings"
	"unicode/utf8"
)

const (
	// sampleLetters bounds the letters of a text that are looked at, and sampleBytes the part of it
	// in which they are searched.
	sampleLetters = 400
	sampleBytes   = 32 << 10
	// proseBytes is the length of a line that is likely prose. Prose is looked at first: menus are
	// often in another language than the page.
	proseBytes = 100
	// pieceLetters is the least length of a piece. A text is read in pieces, which show whether all
	// of it is in one language.
	pieceLetters = 60
)

// sampled gives pieces of a text to take, prose first, until take wants no more.
func sampled(text string, take func(line string, letters int) (more bool)) {
	text = text[:min(len(text), sampleBytes)]
	lines := 0
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if len(line) >= proseBytes {
			lines++
		}
	}
	quota := sampleLetters / max(min(lines, 4), 1)
	for _, prose := range []bool{true, false} {
		for rest := text; rest != ""; {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			if line != "" && prose == (len(line) >= proseBytes) && !take(line, quota) {
				return
			}
		}
	}
}

// Classes of the ASCII characters beside a word.
const (
	apart   = iota // what stands between words
	joins          // a word beside it is part of a name or a number, and not of the text
	perhaps        // if there is a letter on the other side, too
)

var besides = func() (t [utf8.RuneSelf]uint8) {
	for _, c := range `0123456789_@\/=<>{}[]$#&+~|%^*` {
		t[c] = joins
	}
	t['.'], t[':'] = perhaps, perhaps
	return t
}()

// maxWord bounds the letters of a word.
const maxWord = 32

// word is a word of the text, in lower case, with wordEnd at both ends.
type word struct {
	letters [maxWord + 2]uint16
	n       int
	script  script
}

const wordEnd = '_'

// reader reads the words of a line.
type reader struct {
	table *letterTable
	word  word
}

// words gives the words of a line to take and counts all letters, until there are limit letters.
// Left out are names of files, options, numbers, abbreviations and what else is no word.
func (r *reader) words(line string, limit int, counts *[scripts]int, take func(*word)) {
	t, w := r.table, &r.word
	before := byte(apart)
	letters := 0
	for i := 0; i < len(line) && letters < limit; {
		// What stands before the word.
		c := line[i]
		if c < utf8.RuneSelf && t.script[c] == noScript {
			before = apart
			if besides[c] == joins || c == '-' && (i == 0 || line[i-1] == ' ' || line[i-1] == '-') { // an option
				before = joins
			}
			i++
			continue
		}
		capitals, humps := 0, false
		w.n, w.script = 1, noScript
		mixed := false
		for i < len(line) {
			var ch rune
			var s script
			var size int
			if c := line[i]; c < utf8.RuneSelf {
				ch, size = rune(c), 1
				s = t.script[c]
			} else {
				ch, size = utf8.DecodeRuneInString(line[i:])
				if ch < letterTableSize {
					s = t.script[ch]
				} else {
					s = highScript(ch)
				}
			}
			if s == noScript {
				if (ch == '\'' || ch == '’') && w.n > 1 && i+size < len(line) { // within a word, or the end of it
					i += size
					break
				}
				if ch >= utf8.RuneSelf {
					i += size
				}
				break
			}
			i += size
			counts[s]++
			letters++
			switch {
			case w.script == noScript:
				w.script = s
			case w.script != s:
				mixed = true
			}
			low := uint16(wordEnd)
			if ch < letterTableSize {
				if low = t.lower[ch]; low != uint16(ch) { //nolint:gosec // below letterTableSize
					humps = humps || w.n > 1 && capitals < w.n-1
					capitals++
				}
			} else if s == han {
				low = uint16(ch) //nolint:gosec // rare characters beyond the plane have the number of another one
			}
			if w.n <= maxWord {
				w.letters[w.n] = low
				w.n++
			}
		}
		if w.n == 1 {
			before = apart
			continue
		}
		n := w.n - 1
		bad := mixed || humps || before == joins || capitals == n && n > 1 && n < 6
		before = apart
		if i < len(line) && line[i] < utf8.RuneSelf {
			switch besides[line[i]] {
			case joins:
				bad = true
			case perhaps:
				if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '.' && (line[i+1] >= utf8.RuneSelf || t.script[line[i+1]] != noScript) {
					bad, before = true, joins
				}
			}
			if before == joins {
				i++
			}
		}
		if !bad {
			w.letters[0], w.letters[w.n] = wordEnd, wordEnd
			w.n++
			take(w)
		}
	}
}
