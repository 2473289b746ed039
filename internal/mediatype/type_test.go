package mediatype

import (
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// TestOf has cases of the standards' own tests (WPT, fetch/content-type and
// mimesniff/mime-types).
func TestOf(t *testing.T) {
	for fields, want := range map[string]string{
		"":                          "",
		"html":                      "",
		"text/":                     "",
		"/html":                     "",
		"te xt/html":                "",
		"text/html\xff":             "",
		"*/*":                       "",
		"text/html":                 "text/html",
		" \tTEXT/Html \r\n":         "text/html",
		"text/html ; charset=gbk":   "text/html gbk",
		"text/html;charset=gbk(":    "text/html gbk(",
		"text/html;x=(;charset=gbk": "text/html gbk",
		"text/html;charset=gbk;charset=windows-1255":   "text/html gbk",
		"text/html;charset=();charset=GBK":             "text/html ()",
		"text/html;charset =gbk":                       "text/html",
		"text/html ;charset=gbk":                       "text/html gbk",
		"text/html; charset=gbk":                       "text/html gbk",
		"text/html;charset= gbk":                       "text/html  gbk",
		"text/html;charset= \"gbk\"":                   "text/html  \"gbk\"",
		"text/html;charset=gbk ":                       "text/html gbk",
		"text/html;charset='gbk'":                      "text/html 'gbk'",
		"text/html;charset=gbk\"":                      "text/html gbk\"",
		"text/html;charset=;charset=GBK":               "text/html GBK",
		"text/html;test;charset=gbk":                   "text/html gbk",
		"text/html;\";charset=gbk":                     "text/html gbk",
		"text/html;charset=\"gbk\"":                    "text/html gbk",
		"text/html;charset=\"gbk":                      "text/html gbk",
		"text/html;charset=gbk\"x":                     "text/html gbk\"x",
		"text/html;charset=\"gbk\"x":                   "text/html gbk",
		"text/html;charset=\"\";charset=GBK":           "text/html ",
		"text/html;charset=\"\\ gbk\"":                 "text/html  gbk",
		"text/html;charset=\"\\g\\b\\k\"":              "text/html gbk",
		"text/html;charset=\"gbk\\":                    "text/html gbk\\",
		"text/html;x=\";charset=gbk\";charset=utf-8":   "text/html utf-8",
		"text/html;charset=\x01;charset=gbk":           "text/html gbk",
		"text/html;charset=gbk, text/html":             "text/html gbk",
		"text/html;charset=gbk,text/html;charset=x":    "text/html x",
		"text/html;charset=gbk,text/plain":             "text/plain",
		"text/plain, text/html;charset=gbk, */*":       "text/html gbk",
		"text/html;charset=gbk, text/plain, text/html": "text/html",
		"text/html;\",\",text/plain":                   "text/plain",
		"text/html;x=\",text/plain":                    "text/html",
		"text/html;x=\"\\\",text/plain":                "text/html",
		",text/html,":                                  "text/html",
	} {
		got := Of(fields)
		text := got.Essence
		if got.HasCharset {
			text += " " + got.Charset
		}
		if text != want {
			t.Errorf("%q: got %q, want %q", fields, text, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add(`text/html;charset="g\"bk", text/html; charset=x;`)
	f.Add("*/*, a/b ; c=d")
	f.Fuzz(func(t *testing.T, fields string) {
		got := Of(fields)
		kind, sub, _ := strings.Cut(got.Essence, "/")
		switch {
		case got == Type{}:
		case !httpguts.ValidHeaderFieldName(kind) || !httpguts.ValidHeaderFieldName(sub) || strings.ToLower(got.Essence) != got.Essence || got.Essence == "*/*":
			t.Errorf("%q: essence %q", fields, got.Essence)
		case !httpguts.ValidHeaderFieldValue(got.Charset) || got.Charset != "" && !got.HasCharset:
			t.Errorf("%q: charset %q", fields, got.Charset)
		}
		if again := Of(got.Essence); got.Essence != "" && again.Essence != got.Essence {
			t.Errorf("%q: %q again is %q", fields, got.Essence, again.Essence)
		}
	})
}
