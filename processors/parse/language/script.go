package language

import (
	"sync"
	"unicode"
)

// Directions of text.
const (
	LeftToRight = "ltr"
	RightToLeft = "rtl"
)

// script is a number of scripts.
type script uint8

// Scripts that are read by a table of several languages come first.
const (
	noScript script = iota
	latin
	cyrillic
	arabic
	devanagari
	bengali
	han
	kana
	hangul
	greek
	hebrew
	thai
	lao
	khmer
	burmese
	tibetan
	georgian
	armenian
	ethiopic
	gurmukhi
	gujarati
	oriya
	tamil
	telugu
	kannada
	malayalam
	sinhala
	otherScript
	scripts

	lastTable = han
)

// scriptFacts is what is known of a script: its code (ISO 15924), the language that decides
// alone, and its letters.
var scriptFacts = [scripts]struct {
	code, language string
	table          *unicode.RangeTable
}{
	latin:      {"Latn", "", unicode.Latin},
	cyrillic:   {"Cyrl", "", unicode.Cyrillic},
	arabic:     {"Arab", "", unicode.Arabic},
	devanagari: {"Deva", "", unicode.Devanagari},
	han:        {"Hani", "", unicode.Han},
	kana:       {"Jpan", "ja", nil},
	hangul:     {"Kore", "ko", unicode.Hangul},
	greek:      {"Grek", "el", unicode.Greek},
	hebrew:     {"Hebr", "he", unicode.Hebrew},
	thai:       {"Thai", "th", unicode.Thai},
	lao:        {"Laoo", "lo", unicode.Lao},
	khmer:      {"Khmr", "km", unicode.Khmer},
	burmese:    {"Mymr", "my", unicode.Myanmar},
	// Tibetan and Dzongkha share a script.
	tibetan:   {"Tibt", "", unicode.Tibetan},
	georgian:  {"Geor", "ka", unicode.Georgian},
	armenian:  {"Armn", "hy", unicode.Armenian},
	ethiopic:  {"Ethi", "am", unicode.Ethiopic},
	bengali:   {"Beng", "", unicode.Bengali},
	gurmukhi:  {"Guru", "pa", unicode.Gurmukhi},
	gujarati:  {"Gujr", "gu", unicode.Gujarati},
	oriya:     {"Orya", "or", unicode.Oriya},
	tamil:     {"Taml", "ta", unicode.Tamil},
	telugu:    {"Telu", "te", unicode.Telugu},
	kannada:   {"Knda", "kn", unicode.Kannada},
	malayalam: {"Mlym", "ml", unicode.Malayalam},
	sinhala:   {"Sinh", "si", unicode.Sinhala},
}

// letterTableSize is the number of characters in a letterTable. The scripts that are alphabets are
// all in it.
const letterTableSize = 0x2000

// letterTable is the script and the lower case of each character. The script of a character that is
// not a letter is noScript. A mark has the script of the letters that it stands at.
type letterTable struct {
	script [letterTableSize]script
	lower  [letterTableSize]uint16
}

var letters = sync.OnceValue(func() *letterTable {
	t := new(letterTable)
	for r := range rune(letterTableSize) {
		t.lower[r] = uint16(r) //nolint:gosec // below letterTableSize
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || r == 'ª' || r == 'º' {
			continue
		}
		if low := unicode.ToLower(r); low < letterTableSize {
			t.lower[r] = uint16(low) //nolint:gosec // below letterTableSize
		}
		t.script[r] = otherScript
		for s, facts := range scriptFacts {
			if facts.table != nil && unicode.Is(facts.table, r) {
				t.script[r] = script(s) //nolint:gosec // a few scripts
			}
		}
		if unicode.Is(unicode.Inherited, r) && unicode.IsMark(r) {
			t.script[r] = latin
		}
	}
	return t
})

// highScript is the script of a character from letterTableSize on.
func highScript(r rune) script {
	switch {
	case r < 0x2E80:
		if r >= 0x2C60 && r < 0x2C80 {
			return latin
		}
		return noScript
	case r >= 0x3041 && r < 0x3100 && r != 0x30FB, r >= 0xFF66 && r < 0xFFA0: // not the middle dot
		return kana
	case r >= 0x3400 && r < 0xA000, r == 0x3005, r == 0x3007, r >= 0xF900 && r < 0xFB00, r >= 0x20000 && r < 0x32000:
		return han
	case r >= 0xAC00 && r < 0xD7A4:
		return hangul
	case r >= 0xFB1D && r < 0xFB50:
		return hebrew
	case r >= 0xFB50 && r < 0xFE00, r >= 0xFE70 && r < 0xFEFF:
		return arabic
	case unicode.IsLetter(r):
		return otherScript
	}
	return noScript
}

// Direction is the direction in which a script is written, "" for scripts that are not known.
func Direction(code string) string {
	switch code {
	case "":
		return ""
	case "Arab", "Hebr":
		return RightToLeft
	}
	return LeftToRight
}
