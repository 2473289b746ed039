package document

import (
	"strings"
	"testing"
)

// srcsetCases are the cases of WPT's html/semantics/embedded-content/
// the-img-element/srcset/parse-a-srcset-attribute.html (commit 704d739c, 3-clause
// BSD licence), and below them ours: an attribute, and the URLs of its candidates.
// WPT tells which of these a browser shows, the first.
var srcsetCases = map[string]string{
	"": "", ",": "", ",,,": "",
	"  data:,a  1x  ": "data:,a", "\t\tdata:,a\t\t1x\t\t": "data:,a", "\n\ndata:,a\n\n1x\n\n": "data:,a", "\f\fdata:,a\f\f1x\f\f": "data:,a", "\r\rdata:,a\r\r1x\r\r": "data:,a",
	"\v\vdata:,a\v\v1x\v\v": "\v\vdata:,a\v\v1x\v\v", "\x0E\x0Edata:,a\x0E\x0E1x\x0E\x0E": "\x0E\x0Edata:,a\x0E\x0E1x\x0E\x0E",
	"\x0F\x0Fdata:,a\x0F\x0F1x\x0F\x0F": "\x0F\x0Fdata:,a\x0F\x0F1x\x0F\x0F", "\x10\x10data:,a\x10\x101x\x10\x10": "\x10\x10data:,a\x10\x101x\x10\x10",
	"data:,a": "data:,a", "data:,a ": "data:,a", "data:,a ,": "data:,a", "data:,a,": "data:,a", "data:,a, ": "data:,a", "data:,a,,,": "data:,a", "data:,a,, , ": "data:,a",
	" data:,a": "data:,a", ",,,data:,a": "data:,a", " , ,,data:,a": "data:,a",
	"\u00a0data:,a": "\u00a0data:,a", "data:,a\u00a0": "data:,a\u00a0",
	"data:,a 1x": "data:,a", "data:,a 1x ": "data:,a", "data:,a 1x,": "data:,a",
	"data:,a ( , data:,b 1x, ), data:,c":   "data:,c",
	"data:,a ((( , data:,b 1x, ), data:,c": "data:,c",
	"data:,a [ , data:,b 1x, ], data:,c":   "data:,b ] data:,c",
	"data:,a { , data:,b 1x, }, data:,c":   "data:,b } data:,c",
	`data:,a " , data:,b 1x, ", data:,c`:   `data:,b " data:,c`,
	`data:,a \,data:;\,b, data:,c`:         `data:;\,b data:,c`,
	"data:,a, data:,b (":                   "data:,a",
	"data:,a, data:,b (  ":                 "data:,a",
	"data:,a, data:,b (,":                  "data:,a",
	"data:,a, data:,b (x":                  "data:,a",
	"data:,a, data:,b ()":                  "data:,a",
	"data:,a (, data:,b":                   "",
	"data:,a /*, data:,b, data:,c */":      "data:,b",
	"data:,a //, data:,b":                  "data:,b",

	"/a.jpg 480w, /b.jpg 800w,/c,d.jpg 2x": "/a.jpg /b.jpg /c,d.jpg",
	"/a.jpg, /b.jpg 2x":                    "/a.jpg /b.jpg",
	"/a.jpg 480, /b.jpg 1e999x, /c 2x":     "/c",
}

// What follows the URL where WPT's table has "data:,a …", and whether that is a
// candidate. The rest of the table puts each of srcsetBlanks before and behind
// the number of each unit.
var (
	validDescriptors = []string{
		"1w 1h", "1h 1w",
		"0x", "-0x", "1e0x", "1E0x", "1e-1x", "1.5e1x", ".5x", ".5e1x", "1.0x",
	}
	invalidDescriptors = []string{
		"foo", "foo foo", "foo 1x", "foo 1x foo", "foo 1w", "foo 1w foo", "1x 1x", "1w 1w", "1w 1x", "1x 1w",
		"1h 1h", "1h 1x", "1h 1w 1x", "1x 1w 1h", "1h", "1h foo", "foo 1h",
		"0w", "-1w", "1w -1w", "1.0w", "1w 1.0w", "1e0w", "1w 1e0w", "1www", "1w 1www", "+1w", "1w +1w", "1W", "1w 1W",
		"Infinityw", "1w Infinityw", "NaNw", "1w NaNw", "0x1w", "0X1w",
		"1x -0x", "-1x", "1x -1x", "-x", ".x", "-.x", "1.x", "1x 1.5e1x", "1x 1e1.5x", "1x 1.0x", "+1x", "1X", "Infinityx", "NaNx", "0x1x", "0X1x",
		"1w 0h", "1w -1h", "1w 1.0h", "1w 1e0h", "1w 1hhh", "1w +1h", "1w 1H", "1w Infinityh", "1w NaNh", "0x1h", "0X1h",
	}
	srcsetBlanks = "\x01\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200c\u200d\u202f\u205f\u3000\ufeff"
)

func TestSrcset(t *testing.T) {
	judge := func(srcset, want string) {
		t.Helper()
		var got []string
		srcsetURLs(srcset, func(url string) bool { got = append(got, url); return true })
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: got %q, want %q", srcset, s, want)
		}
	}
	for srcset, want := range srcsetCases {
		judge(srcset, want)
	}
	for _, descriptors := range validDescriptors {
		judge("data:,a "+descriptors, "data:,a")
	}
	for _, descriptors := range invalidDescriptors {
		judge("data:,a "+descriptors, "")
	}
	for _, blank := range srcsetBlanks {
		for _, unit := range []string{"w", "x"} {
			judge("data:,a 1"+string(blank)+unit, "")
			judge("data:,a "+string(blank)+"1"+unit, "")
		}
		judge("data:,a 1w 1"+string(blank)+"h", "")
		judge("data:,a 1w "+string(blank)+"1h", "")
	}
}
