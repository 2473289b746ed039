package document

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// letterPairs is a table of the pairs of letters that languages have. Its head explains it.
//
//go:embed letters.txt
var letterPairs string

const (
	// Costs are negative logarithms of probabilities, in nats: n stands for exp(-n).
	rarePair   = 14 // a pair of letters that a language does not have
	oddSign    = 28 // a sign within a word
	brokenSign = 42 // a byte that is not a character of the encoding
	sign       = 7  // another sign, which may be in texts of every language
	// lettersMargin is by how much a text must cost less in another encoding than in
	// windows-1252, in which most pages are that declare nothing: exp(-10) is one in 20,000.
	lettersMargin = 10
	// weighedBytes is how much of a sample is weighed.
	weighedBytes = 8 << 10
)

// twins returns an encoding and another encoding with the same letters, if there is one. If a text
// reads the same in both, the first is likelier: where Windows has letters and quotes, ISO has
// controls.
func twins(encoding string, sample []byte) []string {
	var other string
	switch encoding {
	case "windows-1250", "iso-8859-2":
		encoding, other = "windows-1250", "iso-8859-2"
	case "windows-1256":
		other = "iso-8859-6"
	default:
		return []string{encoding}
	}
	if hasC1(sample) {
		return []string{encoding, other}
	}
	return []string{other, encoding}
}

// pair is two neighbouring letters in lower case, at least one of them beyond ASCII. At the
// beginning or the end of a word, wordEnd stands for the other letter.
type pair [2]rune

const wordEnd = '_'

// encodingOfPairs returns the encoding in which a sample reads most like one of the languages
// of letters.txt. These are written in Latin or Arabic letters, where the frequencies of single
// letters tell little. It is windows-1252 unless another encoding is clearly likelier.
func encodingOfPairs(sample []byte) string {
	start := sample[:min(len(sample), weighedBytes)]
	texts := map[string]weighed{}
	best, usual := nameWindows1252, -1
	least := -1
	for line := range strings.Lines(letterPairs) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		for _, name := range twins(fields[1], sample) {
			text, known := texts[name]
			if !known {
				text = weigh(name, start)
				texts[name] = text
			}
			cost := text.costIn(fields[2:])
			if least < 0 || cost < least {
				best, least = name, cost
			}
			if name == nameWindows1252 && (usual < 0 || cost < usual) {
				usual = cost
			}
		}
	}
	if least+lettersMargin > usual {
		return nameWindows1252
	}
	return best
}

type weighed struct {
	pairs map[pair]int // how often each pair occurs
	cost  int          // of the text in a language without any of the pairs
}

// costIn is the cost of the text in a language, whose pairs are given as in letters.txt: a
// cost, and the pairs that have it.
func (w weighed) costIn(fields []string) int {
	cost := w.cost
	for i := 0; i+1 < len(fields); i += 2 {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			panic("parse: letters.txt: " + err.Error()) // it is a part of the program
		}
		for rest := fields[i+1]; rest != ""; {
			a, size := utf8.DecodeRuneInString(rest)
			b, more := utf8.DecodeRuneInString(rest[size:])
			cost -= w.pairs[pair{a, b}] * (rarePair - n)
			rest = rest[size+more:]
		}
	}
	return cost
}

func weigh(encoding string, sample []byte) weighed {
	text := make([]byte, utf8.UTFMax*len(sample))
	n, _, _ := decoderOf(encoding).Transform(text, sample, true) // there is room, and single bytes cannot be cut
	w := weighed{pairs: map[pair]int{}}
	before, r := rune(' '), rune(' ')
	for _, next := range string(text[:n]) + " " {
		w.add(before, r, next)
		before, r = r, next
	}
	return w
}

// add weighs a character between two others.
func (w *weighed) add(before, r, next rune) {
	switch {
	case r < utf8.RuneSelf:
	case isArabic(r) && (isASCIILetter(before) || isASCIILetter(next) || !isWordLetter(before) && !isWordLetter(next)):
		w.cost += oddSign // a word has letters of one script, and an Arabic word has several
	case isWordLetter(r):
		w.pair(before, r)
		if next < utf8.RuneSelf || !isWordLetter(next) {
			w.pair(r, next)
		}
	case r == utf8.RuneError || unicode.IsControl(r):
		w.cost += brokenSign
	case unicode.IsMark(r) && isWordLetter(before), isFreeSign(before, r, next):
		w.cost += sign
	default:
		w.cost += oddSign
	}
}

func (w *weighed) pair(a, b rune) {
	w.pairs[pair{inWordForm(a), inWordForm(b)}]++
	w.cost += rarePair
}

// isFreeSign reports whether texts of many languages have a sign between two such characters.
func isFreeSign(before, r, next rune) bool {
	within := isWordLetter(before) && isWordLetter(next)
	switch r {
	case '’', '‘', '—', '·', '\u200c', '\u200d': // between letters, too
		return true
	case '“', '”', '„', '‚', '‹', '›', '«', '»', '–', '…', '•', '§', '©', '®', '™', '€', '\u00a0', '\u00ad', '،', '؛', '؟':
		return !within
	case '¿', '¡':
		return !isWordLetter(before)
	case 'ª', 'º':
		return !isWordLetter(next)
	}
	return !isWordLetter(before) && (unicode.IsDigit(before) || !isWordLetter(next))
}

// isWordLetter reports whether r is a letter of words. The ordinal signs ª and º are not.
func isWordLetter(r rune) bool { return unicode.IsLetter(r) && r != 'ª' && r != 'º' }

// isArabic reports whether r is a letter, mark or sign of Arabic (its block in Unicode).
func isArabic(r rune) bool { return 0x600 <= r && r < 0x700 }

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// inWordForm is the form of a character in a pair.
func inWordForm(r rune) rune {
	switch {
	case !isWordLetter(r):
		return wordEnd
	case r == 'İ': // its lower case is a letter of ASCII
		return r
	}
	return unicode.ToLower(r)
}
