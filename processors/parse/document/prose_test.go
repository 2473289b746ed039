package document

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFold compares texts with the same read one character at a time.
func TestFold(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "word", "more words", " ", " ", "\n", "\t ", "\x00", "\x01", "\u00a0", "©", "é", "\xC2", "東", "\xA0", "\x7f", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		one := strings.NewReplacer("\x00", "", "\u00a0", " ", "\n", " ", "\t", " ").Replace(text)
		var want []string
		for _, word := range strings.Split(one, " ") {
			if word != "" {
				want = append(want, word)
			}
		}
		p := prose{limit: 1 << 20}
		p.fold(text)
		if got := p.String(); got != strings.Join(want, " ") {
			t.Fatalf("%q gives %q, want %q", text, got, strings.Join(want, " "))
		}
	})
}
