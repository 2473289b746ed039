package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/net/html/charset"
)

const (
	// guessedBytes is how much is looked at, from the first byte beyond ASCII.
	guessedBytes = 32 << 10
	// leastConfidence is what a guess must have to be one: below it are scripts
	// that the library has no model of, Arabic for one.
	leastConfidence = 0.6
)

// guess returns the name of the encoding of a body that declares none (WHATWG
// HTML, determining the character encoding, steps 7 to 9). UTF-8 if the whole
// body is valid UTF-8 with a character beyond ASCII: long English preambles are
// common, and text that is valid UTF-8 by chance is not. Else what the letters'
// frequencies say; and where these cannot say, as for the Latin alphabets, the
// legacy encoding of the language that the response or its country names.
func guess(body []byte, hint hint) string {
	if hint.truncated {
		body = cutPartialRune(body)
	}
	start := firstBeyondASCII(body)
	switch {
	case start < 0 && bytes.IndexByte(body, escape) < 0:
		return nameWindows1252
	case start >= 0 && utf8.Valid(body):
		return nameUTF8
	case start < 0:
		start = bytes.IndexByte(body, escape)
	}
	sample := body[start:min(len(body), start+guessedBytes)]
	found := chardet.Detect(sample)
	switch name := nameOfGuess(found.Encoding); name {
	case "", nameWindows1252, "windows-1254", "macintosh":
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
		if found.Confidence >= leastConfidence {
			return name
		}
	}
	return legacyEncoding(languageOf(body, hint), sample)
}

const (
	escape = 0x1B
	// alphaTonosISO is U+0386 in ISO-8859-7; in windows-1253 it is 0xA2.
	alphaTonosISO = 0xB6
)

// nameOfGuess returns the WHATWG name of what the library found, or "" for
// what no page may be in, such as UTF-16 without a mark.
func nameOfGuess(found string) string {
	switch found {
	case "MacCyrillic":
		// It differs from windows-1251 in few letters and has no pages.
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

// legacyEncoding returns the encoding that pages in a language had before
// UTF-8, if the sample can be in it, and windows-1252 otherwise (WHATWG HTML,
// the table of suggested defaults that ends determining the character
// encoding; of Central European ones it gives sometimes this, sometimes that).
func legacyEncoding(language string, sample []byte) string {
	name := nameWindows1252
	switch language {
	case "ar", "fa", "ur":
		name = "windows-1256"
	case "az", "ku", "tr":
		name = "windows-1254"
	case "ba", "be", "bg", "kk", "ky", "mk", "mn", "ru", "sah", "sr", "tg", "tt", "uk":
		name = "windows-1251"
	case "bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq":
		// ISO-8859-2 has controls where windows-1250 has letters and quotes.
		name = "iso-8859-2"
		if hasC1(sample) {
			name = "windows-1250"
		}
	case "el":
		name = "windows-1253"
	case "et", "lt", "lv":
		name = "windows-1257"
	case "he":
		name = "windows-1255"
	case "ja":
		name = "shift_jis"
	case "ko":
		name = "euc-kr"
	case "th":
		name = "windows-874"
	case "vi":
		name = "windows-1258"
	case "zh":
		name = "gbk"
	case "zh-hant", "zh-tw", "zh-hk", "zh-mo":
		name = "big5"
	}
	enc, _ := charset.Lookup(name)
	text, err := enc.NewDecoder().Bytes(sample)
	if err != nil || bytes.Contains(text, []byte("\uFFFD")) {
		return nameWindows1252
	}
	return name
}

// languageOf returns the language of a page as its root element, its header or
// its country says, lower case, without its region unless it is Chinese; or "".
func languageOf(body []byte, hint hint) string {
	language := rootLanguage(body)
	if language == "" {
		language = singleLanguage(hint.contentLanguage, sniffBytes)
	}
	if language == "" {
		language = languageOfDomain(hint.domain)
	}
	language = strings.ToLower(language)
	if strings.HasPrefix(language, "zh-") {
		return language
	}
	language, _, _ = strings.Cut(language, "-")
	return language
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
		return "zh-tw"
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
