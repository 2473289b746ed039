package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/weftcrawl/weft/processors/parse/document"
)

// legacy are the encodings in which pages of a language are found on the web.
var legacy = map[string][]string{
	"ca": {"windows-1252"}, "cs": {"windows-1250", "iso-8859-2"}, "da": {"windows-1252"}, "de": {"windows-1252", "iso-8859-15"},
	"el": {"windows-1253", "iso-8859-7"}, "es": {"windows-1252"}, "fa": {"windows-1256"}, "fi": {"windows-1252"}, "fr": {"windows-1252"},
	"gl": {"windows-1252"}, "he": {"windows-1255"}, "hr": {"windows-1250", "iso-8859-2"}, "hu": {"windows-1250", "iso-8859-2"}, "it": {"windows-1252"},
	"ja": {"shift_jis", "euc-jp", "iso-2022-jp"}, "ko": {"euc-kr"}, "lt": {"windows-1257"}, "lv": {"windows-1257"}, "mk": {"windows-1251"},
	"nb": {"windows-1252"}, "nl": {"windows-1252"}, "pl": {"windows-1250", "iso-8859-2"}, "pt": {"windows-1252"}, "ro": {"iso-8859-16"},
	"ru": {"windows-1251", "koi8-r", "iso-8859-5"}, "sl": {"windows-1250"}, "sr": {"windows-1251"}, "sr-Latn": {"windows-1250"}, "sv": {"windows-1252"},
	"tr": {"windows-1254"}, "uk": {"windows-1251", "koi8-u"}, "zh-Hans": {"gbk"}, "zh-Hant": {"big5"},
}

// charsets encodes the texts of the test in old encodings, declares none, and prints how many are
// read as what they were.
func charsets(folder string) error {
	parser, err := document.New(document.DefaultOptions())
	if err != nil {
		return err
	}
	type result struct{ pages, right int }
	found := map[string]*result{}
	wrong := map[string]map[string]int{}
	err = walk(folder, test, testBytes, func(t text) {
		if lettersOf(t.body) < pageLetters {
			return
		}
		for _, name := range legacy[t.language] {
			encoding, err := htmlindex.Get(name)
			if err != nil {
				continue
			}
			// Lines with characters that the encoding does not have are left out.
			var kept []string
			for line := range strings.Lines(t.body) {
				if coded, err := encoding.NewEncoder().String(line); err == nil {
					kept = append(kept, coded)
				}
			}
			body := "<html><body><pre>" + strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(strings.Join(kept, "")) + "</pre>"
			want, err := encoding.NewDecoder().String(body)
			if err != nil || len(kept) == 0 || want == body {
				continue
			}
			key := t.language + " " + name
			if found[key] == nil {
				found[key], wrong[key] = &result{}, map[string]int{}
			}
			r := found[key]
			r.pages++
			read := parser.Document(document.Input{URL: "https://example.com/", ContentType: "text/html", Body: []byte(body)})
			plain := parser.Document(document.Input{URL: "https://example.com/", ContentType: "text/html; charset=utf-8", Body: []byte(want)})
			if read.Text == plain.Text {
				r.right++
			} else {
				wrong[key][read.Charset]++
			}
		}
	})
	if err != nil {
		return err
	}
	pages, right := 0, 0
	fmt.Printf("%-22s %6s %8s  read as\n", "undeclared pages", "pages", "right %")
	for _, key := range slices.Sorted(maps.Keys(found)) {
		r := found[key]
		pages, right = pages+r.pages, right+r.right
		fmt.Printf("%-22s %6d %8.2f  %v\n", key, r.pages, 100*float64(r.right)/float64(r.pages), wrong[key])
	}
	fmt.Printf("%-22s %6d %8.2f\n", "all", pages, 100*float64(right)/float64(max(pages, 1)))
	return nil
}
