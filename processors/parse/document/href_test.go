package document

import (
	"strings"
	"testing"
)

func TestJudgeHref(t *testing.T) {
	const self = "https://www.example.org/a?b=c"
	opts := DefaultOptions()
	for href, want := range map[string]hrefVerdict{
		"":                                   hrefBase,
		"#":                                  hrefBase,
		"#part":                              hrefBase,
		"#!/state":                           hrefBase,
		self:                                 hrefSelf,
		self + "#part":                       hrefSelf,
		self + "d":                           hrefOutlink,
		"https://www.example.org/a":          hrefOutlink,
		"/a?b=c":                             hrefOutlink, // Only its base says what it is.
		"page.html":                          hrefOutlink,
		"?page=2":                            hrefOutlink,
		"//cdn.example.net/":                 hrefOutlink,
		"HTTPS://example.org":                hrefOutlink,
		"http:relative":                      hrefOutlink,
		"2001:x":                             hrefOutlink, // A scheme begins with a letter.
		"./a:b":                              hrefOutlink,
		"a/b:c":                              hrefOutlink,
		":80":                                hrefOutlink,
		"javascript:void(0)":                 hrefScheme,
		"JavaScript:go()":                    hrefScheme,
		"mailto:a@example.org":               hrefScheme,
		"tel:+1":                             hrefScheme,
		"data:," + strings.Repeat("x", 9000): hrefScheme,
		"view-source:http://example.org/":    hrefScheme,
		"git+ssh://example.org/":             hrefScheme,
		"localhost:8080/":                    hrefScheme,
		"httpx://example.org/":               hrefScheme,
		"/" + strings.Repeat("x", 8192):      hrefLong,
		"/" + strings.Repeat("x", 8191):      hrefOutlink,
	} {
		if got := judgeHref(href, self, &opts); got != want {
			t.Errorf("%.60q: got %d, want %d", href, got, want)
		}
	}
}

func TestHasToken(t *testing.T) {
	for list, want := range map[string]bool{
		"":                      false,
		"nofollow":              true,
		"NoFollow":              true,
		"noopener nofollow":     true,
		"\tugc\nnofollow\fx":    true,
		"nofollows":             false,
		"xnofollow no follow":   false,
		"   nofollow":           true,
		"external noreferrer  ": false,
	} {
		if got := hasToken(list, "nofollow"); got != want {
			t.Errorf("%q: got %v", list, got)
		}
	}
}
