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
	pieceLetters = 30
	// firstLines is the number of lines of prose that are looked at first, a part of each.
	firstLines = 4
)

// sample reads a text until the detector wants no more: parts of the first lines of prose, the rest
// of these, other prose, and what is no prose.
func (d *detector) sample(text string) {
	text = text[:min(len(text), sampleBytes)]
	var first [firstLines]string
	n := 0
	rest := text
	for n < firstLines && rest != "" {
		var line string
		if line, rest, _ = strings.Cut(rest, "\n"); len(line) >= proseBytes {
			first[n] = line
			n++
		}
	}
	if n > 0 {
		whole := sampleLetters / n
		part := max(pieceLetters, enoughLetters/n)
		for _, letters := range [...]int{part, whole - part} {
			for i := range first[:n] {
				if !d.take(&first[i], letters) {
					return
				}
			}
		}
		for rest != "" {
			var line string
			if line, rest, _ = strings.Cut(rest, "\n"); len(line) >= proseBytes && !d.take(&line, sampleLetters/n) {
				return
			}
		}
	}
	for rest = text; rest != ""; {
		var line string
		if line, rest, _ = strings.Cut(rest, "\n"); len(line) < proseBytes && !d.take(&line, sampleLetters) {
			return
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
	line  string
	at    int // what of the line is read
	room  int // the letters that may still be read
	// beside is what stands before the next word.
	beside uint8
	// counts has the letters that were read, by script.
	counts [scripts]int
	word   word
}

// start begins a line, of which it reads about room letters.
func (r *reader) start(line string, room int) {
	r.line, r.at, r.room, r.beside = line, 0, room, apart
}

// next reads the next word. Left out are names of files, options, numbers, abbreviations and what else
// is no word.
func (r *reader) next() bool {
	for r.at < len(r.line) && r.room > 0 {
		if r.skip() {
			continue
		}
		odd := r.spell()
		odd = odd || r.beside == joins
		r.beside = apart
		if w := &r.word; w.n > 1 && !r.joined() && !odd {
			w.letters[0], w.letters[w.n] = wordEnd, wordEnd
			w.n++
			return true
		}
	}
	return false
}

// skip reads a character that stands between words. It reports false if there is none.
func (r *reader) skip() bool {
	c := r.line[r.at]
	if c >= utf8.RuneSelf || r.table.script[c] != noScript {
		return false
	}
	option := c == '-' && (r.at == 0 || r.line[r.at-1] == ' ' || r.line[r.at-1] == '-')
	r.beside = apart
	if besides[c] == joins || option {
		r.beside = joins
	}
	r.at++
	return true
}

// spell reads letters into the word, up to what is no letter. It tells whether they look like an
// abbreviation or a name of a program: they have several scripts, or capitals within.
func (r *reader) spell() (odd bool) {
	t, w, line := r.table, &r.word, r.line
	w.n, w.script = 1, noScript
	capitals, run := 0, 0 // letters: run of w.script
	i := r.at
	for i < len(line) {
		ch, s, size := t.letter(line[i:])
		if s == noScript {
			if ch >= utf8.RuneSelf || ch == '\'' && w.n > 1 && i+size < len(line) { // within a word, or the end of it
				i += size
			}
			break
		}
		i += size
		switch w.script {
		case s:
			run++
		case noScript:
			w.script = s
			run++
		default:
			odd = true
			r.counts[s]++
			r.room--
		}
		low := uint16(wordEnd)
		if ch < letterTableSize {
			if low = t.lower[ch]; low != uint16(ch) { //nolint:gosec // below letterTableSize
				odd = odd || w.n > 1 && capitals < w.n-1
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
	r.at = i
	r.counts[w.script] += run
	r.room -= run
	return odd || capitals == w.n-1 && capitals > 1 && capitals < 6
}

// letter returns the first character of a text, its script, noScript if it is no letter, and its
// length in bytes.
func (t *letterTable) letter(text string) (ch rune, of script, size int) {
	if c := text[0]; c < utf8.RuneSelf {
		return rune(c), t.script[c], 1
	}
	ch, size = utf8.DecodeRuneInString(text)
	if ch < letterTableSize {
		return ch, t.script[ch], size
	}
	return ch, highScript(ch), size
}

// joined tells whether the word before is part of a name or a number because of what follows.
func (r *reader) joined() (joined bool) {
	rest := r.line[r.at:]
	if rest == "" || rest[0] >= utf8.RuneSelf {
		return false
	}
	switch besides[rest[0]] {
	case joins:
		return true
	case perhaps:
		if len(rest) > 1 && rest[1] != ' ' && rest[1] != '.' && (rest[1] >= utf8.RuneSelf || r.table.script[rest[1]] != noScript) {
			r.at, r.beside = r.at+1, joins
			return true
		}
	}
	return false
}
