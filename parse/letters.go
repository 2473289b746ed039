package parse

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// letters.txt says which pairs of letters languages have; see there.
//
//go:embed letters.txt
var letterPairs string

const (
	// Costs are in nats: what is one in e to the power of n costs n. rarePair is that
	// of a pair of letters that a language does not have, oddSign that of a sign within
	// a word, brokenSign that of what is no character of the encoding, and sign that of
	// other signs, which may be in texts of every language.
	rarePair, oddSign, brokenSign, sign = 14, 28, 42, 7
	// lettersMargin is by how much another encoding must be likelier than
	// windows-1252, which most pages are in that say nothing: one in 20,000.
	lettersMargin = 10
	// weighedBytes is how much of a sample is weighed.
	weighedBytes = 8 << 10
)

// twins are the encodings that have the letters of one of them, the likeliest
// first for texts that read alike in them: those of ISO have controls where Windows has
// letters and quotes.
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

// pair is two letters, in lower case, of which one is beyond ASCII; or such a letter
// and the end of a word.
type pair [2]rune

const wordEnd = '_'

// encodingOfPairs returns the encoding in which a sample reads like one of the languages
// of letters.txt: those in Latin or Arabic letters, of which frequencies of single
// letters tell little. It is windows-1252 unless another one is clearly likelier.
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

// weighed is a text as it reads in an encoding.
type weighed struct {
	pairs map[pair]int
	// cost is that of the text if its language had none of the pairs.
	cost int
}

// costIn is the cost of the text in a language, given the fields of letters.txt.
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

// weigh reads a sample in an encoding.
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
		w.cost += oddSign // words have letters of one script, and in Arabic several
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

// isFreeSign reports whether a sign may stand between two characters in many a text.
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

// isWordLetter reports whether r is a letter, and not one that stands for an ending.
func isWordLetter(r rune) bool { return unicode.IsLetter(r) && r != 'ª' && r != 'º' }

// isArabic reports whether r is a letter, mark or sign of Arabic (its block in Unicode).
func isArabic(r rune) bool { return 0x600 <= r && r < 0x700 }

func isASCIILetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// inWordForm is how a letter stands in a pair.
func inWordForm(r rune) rune {
	switch {
	case !isWordLetter(r):
		return wordEnd
	case r == 'İ': // its lower case is a letter of ASCII
		return r
	}
	return unicode.ToLower(r)
}
