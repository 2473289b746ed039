package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// WithoutTags is the text of HTML: a space for each tag, and nothing of scripts and style sheets.
func WithoutTags(raw string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(raw))
	hidden := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if !hidden {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.Data == "script" || t.Data == "style" {
				hidden = t.Type == html.StartTagToken
			}
			b.WriteByte(' ')
		}
	}
}
