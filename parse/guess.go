package parse

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
	// guessedBytes is how much is looked at, from the first byte beyond ASCII.
	guessedBytes = 32 << 10
	// leastConfidence is what a guess must have to be one: below it are scripts
	// that the library has no model of, Arabic for one.
	leastConfidence = 0.6
)

// guess returns the name of the encoding of a body that declares none and is not
// UTF-8 (WHATWG HTML, determining the character encoding, steps 7 to 9): what the
// letters' frequencies say; and where these cannot say, as for the Latin alphabets,
// the legacy encoding of the language that the response or its country names, or where
// no language is named that of the one whose pairs of letters it has. A few East Asian
// characters look like letters of other alphabets: there the language comes first.
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

// outweighs reports whether the encoding of the language that is named, if it fits,
// is the likelier one of two. Everything fits Shift_JIS that fits its half-width
// katakana, such as KOI8-R.
func outweighs(named, letters string) bool {
	switch named {
	case "big5", "euc-kr", "gbk":
		return isSingleByte(letters)
	case "euc-jp":
		return isSingleByte(letters) || letters == "shift_jis"
	}
	return false
}

// encodingOfLetters returns the encoding that the frequencies of letters tell, or
// "".
func encodingOfLetters(sample []byte) string {
	found := chardet.Detect(sample)
	switch name := nameOfGuess(found.Encoding); name {
	case nameWindows1252, "windows-1254", "macintosh":
		return ""
	case "iso-8859-7":
		// They differ in one letter, which pages mostly write as Windows does.
		if bytes.IndexByte(sample, alphaTonosISO) < 0 {
			return "windows-1253"
		}
		return name
	case "koi8-r":
		// The letters that only Ukrainian has are line drawing in KOI8-R.
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

// isMacCyrillic tells x-mac-cyrillic from windows-1251, which has most small letters in
// the same places: not so U+044F, one letter in fifty. What is that in the one is a
// capital in the other, which does not follow small letters.
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

// encodingOfKana returns the Japanese encoding that a sample is in, or "": of the
// characters beyond ASCII one in four is kana, but not of half width, and four are.
func encodingOfKana(sample []byte, cut bool) string {
	for _, name := range []string{"shift_jis", "euc-jp"} {
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

// utf16WithoutMark returns the encoding of a text in UTF-16 without a byte order mark,
// or "": eight units, and one in ten, at least are characters of ASCII, which have a NUL
// as their other byte. No page in another encoding has so many NULs on one side.
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

// nameOfGuess returns the WHATWG name of what the library found, or "" for
// what is found otherwise or not read, such as UTF-16.
func nameOfGuess(found string) string {
	switch found {
	case "MacCyrillic":
		// The library often finds it in windows-1251; see isMacCyrillic.
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

// fits reports whether a sample can be in an encoding: of the characters beyond
// ASCII one in twenty may be broken, as where a server cuts texts by their bytes. A
// sample that is cut may end within a character.
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

// isSingleByte reports whether the characters of an encoding are one byte each.
func isSingleByte(name string) bool {
	_, ok := decoderOf(name).Transformer.(singleByte)
	return ok
}

// legacyEncoding returns the encoding that pages in a language had before
// UTF-8 (WHATWG HTML, the table of suggested defaults that ends determining the
// character encoding; of Central European ones it gives sometimes this, sometimes
// that, and of Japanese ones Shift_JIS only).
func legacyEncoding(language string, sample []byte, cut bool) string {
	switch language {
	case "ar", "fa", "ur":
		return "windows-1256"
	case "az", "ku", "tr":
		return "windows-1254"
	case "az-cyrl", "ba", "be", "bg", "bs-cyrl", "kk", "ky", "mk", "mn", "ru", "sah", "sr", "tg", "tt", "uk", "uz-cyrl":
		return "windows-1251"
	case "bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq", "sr-latn":
		// ISO-8859-2 has controls where windows-1250 has letters and quotes.
		if hasC1(sample) {
			return "windows-1250"
		}
		return "iso-8859-2"
	case "el":
		return "windows-1253"
	case "et", "lt", "lv":
		return "windows-1257"
	case "he":
		return "windows-1255"
	case "ja":
		// EUC-JP often is half-width katakana in Shift_JIS; the other way round
		// Shift_JIS with kana is broken.
		if fits("euc-jp", sample, cut) {
			return "euc-jp"
		}
		return "shift_jis"
	case "ko":
		return "euc-kr"
	case "th":
		return "windows-874"
	case "vi":
		return "windows-1258"
	case "zh":
		return "gbk"
	case "zh-hant", "yue", "cht": // the last is Windows' zh-CHT, read as BCP 47 has it
		return "big5"
	}
	return nameWindows1252
}

// languageOf returns the language of a page as its root element, its header or
// its country says, with its script if that is not the usual one; or "".
func languageOf(body []byte, hint hint) string {
	tag := rootLanguage(body)
	if tag == "" {
		tag = singleLanguage(hint.contentLanguage, sniffBytes)
	}
	if tag == "" {
		tag = languageOfDomain(hint.domain)
	}
	return languageOfTag(tag)
}

// languageOfTag returns the language of a tag (BCP 47) in its shortest form, lower
// case, and its script if the language is mostly written in another: "zh" for
// zh-CN, "zh-hant" for zh-TW. Of a tag that is none it is what may be a language.
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
		const length = len("<html")
		if len(s.rest) <= length || !strings.EqualFold(string(s.rest[:length]), "<html") {
			s.rest = s.rest[1:]
			continue
		}
		for s.rest = s.rest[length:]; ; {
			name, value, ok := s.attribute()
			if !ok || name == "lang" {
				return value
			}
		}
	}
	return ""
}

// languageOfDomain returns the language of most pages of a top-level domain
// whose legacy encoding was not windows-1252, or "".
func languageOfDomain(domain string) string {
	switch domain {
	case "ae", "bh", "dz", "eg", "iq", "jo", "kw", "lb", "ly", "ma", "om", "qa", "sa", "sd", "sy", "tn", "ye":
		return "ar"
	case "by", "kg", "kz", "rs", "ru", "su", "tj":
		return "ru"
	case "ua":
		return "uk"
	case "ba":
		return "bs"
	case "cz":
		return "cs"
	case "gr", "cy":
		return "el"
	case "ee":
		return "et"
	case "ir":
		return "fa"
	case "il":
		return "he"
	case "jp":
		return "ja"
	case "kr":
		return "ko"
	case "si":
		return "sl"
	case "al":
		return "sq"
	case "vn":
		return "vi"
	case "cn":
		return "zh"
	case "tw", "hk", "mo":
		return "zh-hant"
	case "az", "bg", "hr", "hu", "lt", "lv", "mk", "mn", "pl", "ro", "sk", "th", "tr":
		return domain
	}
	return ""
}

func hasC1(b []byte) bool {
	for _, c := range b {
		if 0x80 <= c && c < 0xA0 {
			return true
		}
	}
	return false
}
