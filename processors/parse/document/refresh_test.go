package document

import (
	"strings"
	"testing"
)

// TestRefresh judges the table of WPT's html/semantics/document-metadata/
// the-meta-element/pragma-directives/attr-meta-http-equiv-refresh/parsing.html
// (3-clause BSD licence), and some more. "" is no refresh, or one of the page
// itself; tabs and newlines in URLs are for those who resolve them.
func TestRefresh(t *testing.T) {
	for content, want := range map[string]string{
		"": "", "1": "", "1 ": "", "1\t": "", "1\r": "", "1\n": "", "1\f": "", "1;": "", "1,": "",
		"1; url=foo": "foo", "1, url=foo": "foo", "1 url=foo": "foo",
		"1;\turl=foo": "foo", "1,\turl=foo": "foo", "1\turl=foo": "foo",
		"1;\rurl=foo": "foo", "1,\rurl=foo": "foo", "1\rurl=foo": "foo",
		"1;\nurl=foo": "foo", "1,\nurl=foo": "foo", "1\nurl=foo": "foo",
		"1;\furl=foo": "foo", "1,\furl=foo": "foo", "1\furl=foo": "foo",
		"1url=foo": "", "1x;url=foo": "", "1 x;url=foo": "x;url=foo", "1;;url=foo": ";url=foo",
		"  1  ;  url  =  foo": "foo", "  1  ,  url  =  foo": "foo", "  1  ;  foo": "foo", "  1  ,  foo": "foo", "  1  url  =  foo": "foo",
		"1; url=foo ": "foo", "1; url=f\to\no": "f\to\no",
		`1; url="foo"bar`: "foo", `1; url='foo'bar`: "foo", `1; url="foo'bar`: "foo'bar",
		"1; url foo": "url foo", "1; urlfoo": "urlfoo", "1; urfoo": "urfoo", "1; ufoo": "ufoo", `1; "foo"bar`: "foo",
		"; foo": "", ", foo": "", "foo": "", "+1; url=foo": "", "-1; url=foo": "", "+0; url=foo": "", "-0; url=foo": "",
		"0; url=foo": "foo", "+1; foo": "", "-1; foo": "", "+0; foo": "", "-0; foo": "", "0; foo": "foo",
		"+1": "", "-1": "", "+0": "", "-0": "", "0": "",
		"1.9; url=foo": "foo", "1.9..5.; url=foo": "foo", ".9; url=foo": "foo", "0.9; url=foo": "foo",
		"1e0; url=foo": "", "1e1; url=foo": "", "10e-1; url=foo": "", "-0.1; url=foo": "",
		// Ours.
		"0;URL='a b'": "a b", "0; urn:x": "urn:x", "0; URL = \"foo": "foo", "0;url='": "", "0;url=": "",
	} {
		if got := refreshURL(content); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}

// FuzzReferences checks that the parsers of attributes and fields give parts of
// what they were given, and end.
func FuzzReferences(f *testing.F) {
	f.Add(`1; url="foo"bar`)
	f.Add("/a.jpg 480w, /b.jpg (x, y) 800w,,/c,d.jpg 2x")
	f.Add(`<https://example.com/a>; rel="next prev"; title="a \" b", </b>;rel=canonical;anchor="#x"`)
	f.Fuzz(func(t *testing.T, s string) {
		if url := refreshURL(s); !strings.Contains(s, url) || url != trimSpace(url) {
			t.Errorf("refresh %q: %q", s, url)
		}
		srcsetURLs(s, func(url string) bool {
			if url == "" || !strings.Contains(s, url) || strings.ContainsAny(url, " \t\n\f\r") || strings.HasSuffix(url, ",") {
				t.Errorf("srcset %q: %q", s, url)
			}
			return true
		})
		links := 0
		headerLinks(s, func(l headerLink) {
			if links++; !strings.Contains(s, l.target) {
				t.Errorf("field %q: %+v", s, l)
			}
		})
		if links > min(maxHeaderLinks, strings.Count(s, "<")) {
			t.Errorf("field %q: %d links", s, links)
		}
	})
}
