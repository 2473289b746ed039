package urls

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	long := "http://h/" + strings.Repeat("a", MaxBytes-len("http://h/"))
	for _, c := range []struct{ raw, want string }{
		{"http://example.com", "http://example.com/"},
		{"HTTP://EXAMPLE.com:80/A", "http://example.com/A"},
		{"https://example.com:443/?", "https://example.com/?"},
		{"https://example.com:80/", "https://example.com:80/"},
		{"  https://example.com/a b  ", "https://example.com/a%20b"},
		{"https://example.com/#frag", "https://example.com/"},
		{"https://example.com/a #frag", "https://example.com/a%20"},
		{"https://user:secret@example.com/x", "https://example.com/x"},
		{"https://example.com/a/./b/../c//d", "https://example.com/a/c//d"},
		{"https://example.com/a/%2e%2E/b", "https://example.com/b"},
		{"https://example.com/%7ejo/%41%2f%c3%a9", "https://example.com/~jo/A%2F%C3%A9"},
		{"https://example.com/é?é", "https://example.com/%C3%A9?%C3%A9"},
		{"https://example.com/%zz%", "https://example.com/%zz%"},
		{"https://example.com/%%36%31", "https://example.com/%%361"},
		{"https://example.com\\a\\b", "https://example.com/a/b"},
		{"https:example.com", "https://example.com/"},
		{"https://example.com/a\n\tb", "https://example.com/ab"},
		{"https://bücher.example/", "https://xn--bcher-kva.example/"},
		{"https://faß.example/", "https://xn--fa-hia.example/"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://[0:0::1]:8080/x", "http://[::1]:8080/x"},
		{"http://xn--a/", "http://xn--a/"},
		{"http://-a.b-/", "http://-a.b-/"},
		{"http://STRAẞE.example/", "http://xn--strae-oqa.example/"},
		{"http://" + strings.Repeat("@", 2000) + "h/", "http://h/"},
		{"https://example.com/a^b?c^d", "https://example.com/a%5Eb?c^d"},
		{"http://localhost:8000", "http://localhost:8000/"},
		{long, long},
		{long + "#and-more", long},
	} {
		if got, refusal := Parse(c.raw); got.String() != c.want || refusal != Accepted {
			t.Errorf("Parse(%q) = %q %s, want %q", c.raw, got, refusal, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want Refusal
	}{
		{"", Empty},
		{" \t\n", Empty},
		{"example.com", NotAbsolute},
		{"/a/b", NotAbsolute},
		{"//example.com/", NotAbsolute},
		{"#x", NotAbsolute},
		{"mailto:a@example.com", "not_crawlable_mailto"},
		{"java\nscript:alert(1)", "not_crawlable_javascript"},
		{"data:text/plain," + strings.Repeat("x", 1<<20), "not_crawlable_data"},
		{"FTP://example.com/", "not_crawlable_ftp"},
		{"example.com:8080/x", NotCrawlable},
		{"http://", NoHost},
		{"http:///", NoHost},
		{"http://:80/", NoHost},
		{"http://a b/", Malformed},
		{"http://h:99999/", Malformed},
		{"http://1.2.3.4.5/", Malformed},
		{"http://xn--a.ß/", Malformed},
		{"http://\xff/", Malformed},
		{"http://a%00b/", Malformed},
		{"http://h/" + strings.Repeat("a", MaxBytes), TooLong},
		{"http://h/" + strings.Repeat("é", MaxBytes/4), TooLong},
		{"http://é/" + strings.Repeat("a", MaxBytes), TooLong},
		{"http://é/" + strings.Repeat("/../", 1<<20), TooLong},
		{"http://" + strings.Repeat("a.", maxHostBytes/2) + "com/", TooLong},
	} {
		if got, refusal := Parse(c.raw); refusal != c.want || !got.IsZero() {
			t.Errorf("Parse(%.60q) = %q %q, want %q", c.raw, got, refusal, c.want)
		}
	}
}

// TestResolveRFC3986 holds the examples of RFC 3986 section 5.4, as the
// WHATWG standard reads them: "http:g" is relative for an http base.
func TestResolveRFC3986(t *testing.T) {
	base := baseOf("http://a/b/c/d;p?q")
	for _, c := range []struct{ ref, want string }{
		{"g", "http://a/b/c/g"}, {"./g", "http://a/b/c/g"}, {"g/", "http://a/b/c/g/"}, {"/g", "http://a/g"}, {"//g", "http://g/"},
		{"?y", "http://a/b/c/d;p?y"}, {"g?y", "http://a/b/c/g?y"}, {"#s", "http://a/b/c/d;p?q"}, {"g#s", "http://a/b/c/g"},
		{"g?y#s", "http://a/b/c/g?y"}, {";x", "http://a/b/c/;x"}, {"g;x", "http://a/b/c/g;x"}, {"", "http://a/b/c/d;p?q"},
		{".", "http://a/b/c/"}, {"./", "http://a/b/c/"}, {"..", "http://a/b/"}, {"../", "http://a/b/"}, {"../g", "http://a/b/g"},
		{"../..", "http://a/"}, {"../../g", "http://a/g"}, {"../../../g", "http://a/g"}, {"../../../../g", "http://a/g"},
		{"/./g", "http://a/g"}, {"/../g", "http://a/g"}, {"g.", "http://a/b/c/g."}, {"..g", "http://a/b/c/..g"},
		{"./../g", "http://a/b/g"}, {"./g/.", "http://a/b/c/g/"}, {"g/../h", "http://a/b/c/h"}, {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
		{"g;x=1/../y", "http://a/b/c/y"}, {"g?y/../x", "http://a/b/c/g?y/../x"}, {"http:g", "http://a/b/c/g"}, {"https:g", "https://g/"},
	} {
		if got, refusal := base.Resolve(c.ref); got.String() != c.want || refusal != Accepted {
			t.Errorf("Resolve(%q) = %q %s, want %q", c.ref, got, refusal, c.want)
		}
	}
}

func TestURLParts(t *testing.T) {
	u, _ := Parse("https://[::1]:8443/a/b?c/d")
	got := []string{u.Scheme(), u.Hostname(), u.Host(), u.Origin(), u.Path(), u.PathAndQuery(), u.Directory()}
	want := []string{"https", "[::1]", "[::1]:8443", "https://[::1]:8443", "/a/b", "/a/b?c/d", "https://[::1]:8443/a/"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, part := range []string{URL{}.String(), URL{}.Scheme(), URL{}.Host(), URL{}.Origin(), URL{}.PathAndQuery(), URL{}.Directory()} {
		if part != "" {
			t.Errorf("the zero URL has a part %q", part)
		}
	}
}

// TestSpellingsMeet spells one URL in many ways that the standards call the
// same and expects one canonical form.
func TestSpellingsMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9_~][a-zA-Z0-9._~-]{0,6}`), 1, 5).Draw(t, "segments")
		plain := "https://example.com/" + strings.Join(segments, "/")
		var odd strings.Builder
		odd.WriteString(rapid.SampledFrom([]string{
			"https://example.com/", "HTTPS://Example.COM:443/", "https:\\\\example.com\\", "https://u@example.com/", " https:example.com/",
		}).Draw(t, "authority"))
		for i, segment := range segments {
			if i > 0 {
				odd.WriteString(rapid.SampledFrom([]string{"/", "/./", "/x/../", "/x/%2e%2E/", "\\"}).Draw(t, "slash"))
			}
			for _, c := range []byte(segment) {
				fmt.Fprintf(&odd, rapid.SampledFrom([]string{"%c", "%%%02x", "%%%02X", "\t%c"}).Draw(t, "spelling"), c)
			}
		}
		odd.WriteString(rapid.SampledFrom([]string{"", "#", "#a/b?c", "\n"}).Draw(t, "end"))
		want, _ := Parse(plain)
		got, refusal := Parse(odd.String())
		if got != want || refusal != Accepted {
			t.Fatalf("%q gives %q %s, want %q", odd.String(), got, refusal, want)
		}
	})
}
