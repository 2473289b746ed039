package markup

import (
	"strings"
	"testing"
)

// FuzzScanner holds that a text is read to its end in as many tokens as it has bytes at the most,
// within the bounds of tags and texts.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		"<a b='c' d=e>f&amp;g</a><h/>", "<![CDATA[a]]b]]>c", "<!DOCTYPE a [<!ENTITY b 'c'>]>&b;", "<?x?><!-- - --><a", "< a<<b>", "<a b=\">'>c", "<x:a y:b='1'/>", "\x00\xff<\xc3>",
		"<a " + strings.Repeat("b ", MaxTagBytes) + ">", strings.Repeat("a", MaxTextBytes+1) + "<b>",
	} {
		f.Add(text, "b")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		s := NewScanner(strings.NewReader(text))
		for tokens := 0; ; tokens++ {
			token := s.Next()
			if token.Kind == End {
				if again := s.Next(); again.Kind != End {
					t.Errorf("%q: behind the end comes %+v", text, again)
				}
				return
			}
			if tokens > len(text) {
				t.Fatalf("%q: %d tokens", text, tokens)
			}
			if len(s.Value()) > 4*MaxTextBytes || len(token.Name) > 4*MaxTagBytes || len(token.Attr(name)) > 4*MaxTagBytes {
				t.Errorf("%d bytes of text, %d of a name", len(s.Value()), len(token.Name))
			}
			if token.Kind != Text && strings.ContainsAny(token.Name, " \t\r\n/") {
				t.Errorf("%q: a tag is named %q", text, token.Name)
			}
		}
	})
}
