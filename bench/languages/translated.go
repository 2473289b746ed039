package main

import (
	"slices"
	"strings"
	"unicode"
)

// translated returns the texts of kinds of packages without what is not in the language of their label:
// lines that are the same in two languages, code, and lines in English.
func translated(folder string, kinds []corpus) ([]text, error) {
	var all []text
	in := map[string]string{} // the language of each line; "": of several
	err := walk(folder, kinds, testBytes, func(t text) {
		all = append(all, t)
		name, _, _ := strings.Cut(t.language, "-")
		for line := range strings.Lines(t.body) {
			line = strings.TrimSpace(line)
			if other, ok := in[line]; ok && other != name {
				in[line] = ""
			} else if !ok {
				in[line] = name
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i, t := range all {
		var kept []string
		for line := range strings.Lines(t.body) {
			if line = strings.TrimSpace(line); in[line] != "" && written(line, t.language) {
				kept = append(kept, line)
			}
		}
		all[i].body = strings.Join(kept, "\n")
	}
	return all, nil
}

// alphabets are the scripts of languages in other letters than Latin ones. A line without any of them
// is not translated.
var alphabets = map[string][]*unicode.RangeTable{
	"el": {unicode.Greek}, "ja": {unicode.Hiragana, unicode.Katakana}, "ko": {unicode.Hangul}, "zh-Hans": {unicode.Han}, "zh-Hant": {unicode.Han},
	"as": {unicode.Bengali}, "gu": {unicode.Gujarati}, "he": {unicode.Hebrew}, "hi": {unicode.Devanagari}, "mr": {unicode.Devanagari},
	"kn": {unicode.Kannada}, "pa": {unicode.Gurmukhi}, "ta": {unicode.Tamil}, "te": {unicode.Telugu}, "fa": {unicode.Arabic}, "ar": {unicode.Arabic},
	"ru": {unicode.Cyrillic}, "uk": {unicode.Cyrillic}, "mk": {unicode.Cyrillic}, "sr": {unicode.Cyrillic},
}

// englishWords are words of English that no other language of the test has. A line of another language
// that has some of them is not translated, or not whole.
var englishWords = strings.Fields("the The of and is this This that with are be by from will not it which Copyright License")

// written reports whether a line may be in a language: it is no code, and has letters of the language.
func written(line, language string) bool {
	if strings.IndexAny(line, "[<{#$%/") == 0 {
		return false
	}
	if language != "en" {
		n := 0
		for word := range strings.FieldsSeq(line) {
			if slices.Contains(englishWords, word) {
				n++
			}
		}
		if n >= 3 || n == 2 && len(line) < 100 {
			return false
		}
	}
	tables, ok := alphabets[language]
	return !ok || strings.IndexFunc(line, func(r rune) bool { return unicode.In(r, tables...) }) >= 0
}
