package document

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/language"
	"golang.org/x/text/transform"
)

const (
	// guessedBytes is how much of a body is looked at, from the first byte beyond ASCII.
	guessedBytes = 32 << 10
	// leastConfidence is the least confidence of the library that counts. Below it are
	// scripts for which the library has no model, such as Arabic.
	leastConfidence = 0.6
)

// guess returns the name of the encoding of a body that declares none and is not
// UTF-8 (WHATWG HTML, determining the character encoding, steps 7 to 9). There are three
// sources:
//
//   - the frequencies of letters (encodingOfLetters, encodingOfKana);
//   - the language that the response or its country names (languageOf), with the encoding
//     that its pages had before UTF-8. It decides where frequencies say nothing, as in the
//     Latin alphabets. It also decides about a few East Asian characters, which look like
//     letters of other alphabets (outweighs);
//   - where no language is named, the pairs of letters (encodingOfPairs).
func guess(body []byte, hint hint) string {
	if name := utf16WithoutMark(body[:min(len(body), guessedBytes)]); name != "" {
		return name
	}
	start := firstBeyondASCII(body)
	if start < 0 {
		start = bytes.IndexByte(body, escape)
	}
	if start < 0 {
		return nameWindows1252
	}
	sample := body[start:min(len(body), start+guessedBytes)]
	cut := hint.truncated || start+guessedBytes < len(body)
	letters := encodingOfLetters(sample)
	if letters != "" && !fits(letters, sample, cut) {
		letters = ""
	}
	if letters == "" {
		letters = encodingOfKana(sample, cut)
	}
	language := languageOf(body, hint)
	named := legacyEncoding(language, sample, cut)
	if letters == "" && (language == "" || len(twins(named, sample)) > 1) {
		if likely := encodingOfPairs(sample); language == "" || slices.Contains(twins(named, sample), likely) {
			named = likely
		}
	}
	if (letters == "" || outweighs(named, letters)) && fits(named, sample, cut) {
		return named
	}
	return cmp.Or(letters, nameWindows1252)
}

// outweighs tells whether the encoding of the language that is named is likelier than the
// encoding that the letters tell, if the text fits both. Half-width katakana of Shift_JIS
// prove little: texts in other encodings, such as KOI8-R, can be read as katakana.
func outweighs(named, letters string) bool {
	switch named {
	case "big5", "euc-kr", "gbk":
		return isSingleByte(letters)
	case "euc-jp":
		return isSingleByte(letters) || letters == "shift_jis"
	}
	return false
}

// encodingOfLetters returns the encoding that the frequencies of letters tell, or "" if they
// tell nothing.
func encodingOfLetters(sample []byte) string {
	found := chardet.Detect(sample)
	switch name := nameOfGuess(found.Encoding); name {
	case nameWindows1252, "windows-1254", "macintosh":
		return ""
	case "iso-8859-7":
		// The two encodings differ in one letter. Most pages write it as windows-1253 does.
		if bytes.IndexByte(sample, alphaTonosISO) < 0 {
			return "windows-1253"
		}
		return name
	case "koi8-r":
		// In KOI8-R the letters that only Ukrainian has are characters for drawing lines.
		if bytes.IndexByte(sample, 0xA4) >= 0 || bytes.IndexByte(sample, 0xA6) >= 0 || bytes.IndexByte(sample, 0xA7) >= 0 {
			return "koi8-u"
		}
		return name
	default:
		if found.Confidence < leastConfidence {
			return ""
		}
		if name == "windows-1251" && isMacCyrillic(sample) {
			return "x-mac-cyrillic"
		}
		return name
	}
}

// isMacCyrillic tells x-mac-cyrillic from windows-1251. Both have most small letters at the
// same bytes, but not U+044F, which is one letter in fifty. It is 0xDF in x-mac-cyrillic and
// 0xFF in windows-1251, and each of these bytes is a character in the other encoding that does
// not follow small letters.
func isMacCyrillic(sample []byte) bool {
	mac, windows := 0, 0
	for i, c := range sample[1:] {
		if sample[i] < 0xE0 {
			continue
		}
		switch c {
		case 0xDF:
			mac++
		case 0xFF:
			windows++
		}
	}
	return mac > 2*windows
}

// encodingOfKana returns the Japanese encoding in which a sample has enough kana, or "". Enough
// are four of them, and one in four of the characters beyond ASCII. Kana of half width do not
// count.
func encodingOfKana(sample []byte, cut bool) string {
	names := []string{"shift_jis", "euc-jp"}
	if len(sample) > 0 && sample[0] == escape { // the sample begins at the first byte that is not plain ASCII
		names = []string{"iso-2022-jp"}
	}
	for _, name := range names {
		if !fits(name, sample, cut) {
			continue
		}
		text, err := decoderOf(name).Bytes(sample)
		if err != nil {
			continue
		}
		kana, beyondASCII := 0, 0
		for _, r := range string(text) {
			if r >= utf8.RuneSelf {
				beyondASCII++
			}
			if 'ぁ' <= r && r <= 'ヿ' {
				kana++
			}
		}
		if kana >= 4 && 4*kana >= beyondASCII {
			return name
		}
	}
	return ""
}

// utf16WithoutMark returns the encoding of a text in UTF-16 without a byte order mark, or ""
// if the text is not in UTF-16. A character of ASCII has NUL as its other byte in UTF-16. At
// least eight units, and one in ten, must be such characters with NUL on the same side. No
// page in another encoding has so many.
func utf16WithoutMark(body []byte) string {
	if bytes.IndexByte(body[:min(len(body), sniffBytes)], 0) < 0 {
		return ""
	}
	var little, big, units int
	for ; len(body) > 1; body = body[2:] {
		units++
		switch {
		case body[1] == 0 && 0 < body[0] && body[0] < utf8.RuneSelf:
			little++
		case body[0] == 0 && 0 < body[1] && body[1] < utf8.RuneSelf:
			big++
		}
	}
	switch ascii := max(little, big); {
	case ascii < 8 || 10*ascii < units || 10*min(little, big) > ascii:
		return ""
	case little > big:
		return "utf-16le"
	}
	return "utf-16be"
}

const (
	escape = 0x1B
	// alphaTonosISO is U+0386 in ISO-8859-7; in windows-1253 it is 0xA2.
	alphaTonosISO = 0xB6
)

// nameOfGuess returns the WHATWG name of the encoding that the library found. It is "" for
// encodings that are found in another way, such as UTF-16, and for those that are not read.
func nameOfGuess(found string) string {
	switch found {
	case "MacCyrillic":
		// The library often says this of windows-1251; see isMacCyrillic.
		return "windows-1251"
	case "MacRoman":
		return "macintosh"
	case "CP949":
		return "euc-kr"
	}
	switch name := nameOfLabel(found); name {
	case "utf-16le", "utf-16be", "replacement":
		return ""
	default:
		return name
	}
}

// fits reports whether a sample can be in an encoding. One in twenty of the characters beyond
// ASCII may be broken: some servers cut texts within a character. If cut is set, the sample
// may also end within a character.
func fits(name string, sample []byte, cut bool) bool {
	text := make([]byte, utf8.UTFMax*len(sample))
	n, _, err := decoderOf(name).Transform(text, sample, !cut)
	if err != nil && !errors.Is(err, transform.ErrShortSrc) {
		return false
	}
	text = text[:n]
	beyondASCII := 0
	for _, c := range text {
		if c >= utf8.RuneSelf && utf8.RuneStart(c) {
			beyondASCII++
		}
	}
	return 20*bytes.Count(text, []byte("\uFFFD")) <= beyondASCII
}

func isSingleByte(name string) bool {
	_, ok := decoderOf(name).Transformer.(singleByte)
	return ok
}

// legacyEncodings are the encodings that pages had before UTF-8, by language (WHATWG HTML, the
// table of suggested defaults at the end of determining the character encoding). For languages
// of Central Europe that table is not consistent, and for Japanese it has Shift_JIS only: see
// legacyEncoding.
var legacyEncodings = byWord(map[string]string{
	"windows-1256": "ar fa ur",
	"windows-1254": "az ku tr",
	"windows-1251": "az-cyrl ba be bg bs-cyrl kk ky mk mn ru sah sr tg tt uk uz-cyrl",
	"iso-8859-2":   "bs cs hr hu pl ro sk sl sq sr-latn",
	"windows-1253": "el",
	"windows-1257": "et lt lv",
	"windows-1255": "he",
	"shift_jis":    "ja",
	"euc-kr":       "ko",
	"windows-874":  "th",
	"windows-1258": "vi",
	"gbk":          "zh",
	"big5":         "zh-hant yue cht", // the last is Windows' zh-CHT, read as BCP 47 has it
})

// languageOfDomain is the language of most pages of a top-level domain whose legacy encoding
// was not windows-1252.
var languageOfDomain = byWord(map[string]string{
	"ar": "ae bh dz eg iq jo kw lb ly ma om qa sa sd sy tn ye",
	"ru": "by kg kz rs ru su tj",
	"uk": "ua", "bs": "ba", "cs": "cz", "el": "gr cy", "et": "ee", "fa": "ir", "he": "il", "ja": "jp", "ko": "kr",
	"sl": "si", "sq": "al", "vi": "vn", "zh": "cn", "zh-hant": "tw hk mo",
	"az": "az", "bg": "bg", "hr": "hr", "hu": "hu", "lt": "lt", "lv": "lv", "mk": "mk", "mn": "mn", "pl": "pl",
	"ro": "ro", "sk": "sk", "th": "th", "tr": "tr",
})

// byWord turns lists of words into a map from each word to the name of its list.
func byWord(lists map[string]string) map[string]string {
	names := map[string]string{}
	for name, list := range lists {
		for word := range strings.FieldsSeq(list) {
			names[word] = name
		}
	}
	return names
}

// legacyEncoding returns the encoding that a page in a language probably had before UTF-8.
func legacyEncoding(language string, sample []byte, cut bool) string {
	switch name := legacyEncodings[language]; {
	case name == "iso-8859-2" && hasC1(sample):
		// ISO-8859-2 has controls where windows-1250 has letters and quotes.
		return "windows-1250"
	case name == "shift_jis" && fits("euc-jp", sample, cut):
		// A text in EUC-JP often fits Shift_JIS, too, as half-width katakana. A text in
		// Shift_JIS with kana does not fit EUC-JP.
		return "euc-jp"
	default:
		return cmp.Or(name, nameWindows1252)
	}
}

// languageOf returns the language of a page, with its script if that is not the usual one, or
// "". The root element says it, or else the header, or else the country.
func languageOf(body []byte, hint hint) string {
	header := singleLanguage(hint.contentLanguage, sniffBytes)
	return languageOfTag(cmp.Or(rootLanguage(body), header, languageOfDomain[hint.domain]))
}

// languageOfTag returns the language of a tag (BCP 47) in its shortest form, in lower case. The
// script follows if the language is mostly written in another one: "zh" for zh-CN, "zh-hant"
// for zh-TW. If the tag is not valid, it returns the part before the first separator.
func languageOfTag(tag string) string {
	parsed, err := language.All.Parse(tag)
	if err != nil {
		if end := strings.IndexAny(tag, "-_"); end >= 0 {
			tag = tag[:end]
		}
		return strings.ToLower(tag)
	}
	base, _ := parsed.Base()
	script, _ := parsed.Script()
	usual, _ := language.Make(base.String()).Script()
	if script != usual {
		return base.String() + "-" + strings.ToLower(script.String())
	}
	return base.String()
}

// rootLanguage returns the lang attribute of an html element near the
// beginning, or "".
func rootLanguage(body []byte) string {
	s := scanner{rest: body[:min(len(body), sniffBytes)]}
	for s.seek('<') {
		if !hasPrefixFold(s.rest, "<html") {
			s.rest = s.rest[1:]
			continue
		}
		for s.rest = s.rest[len("<html"):]; ; {
			name, value, ok := s.attribute()
			if !ok || name == "lang" {
				return value
			}
		}
	}
	return ""
}

func hasC1(b []byte) bool {
	return slices.ContainsFunc(b, func(c byte) bool { return 0x80 <= c && c < 0xA0 })
}
