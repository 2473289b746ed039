package warc

import "golang.org/x/text/language"

// Language is the code of a language in ISO 639-3, as indexes and WET files have it; empty: it has
// none. code is a code of BCP 47.
func Language(code string) string {
	if code == "" {
		return ""
	}
	base, err := language.ParseBase(code)
	if err != nil {
		return ""
	}
	return base.ISO3()
}
