package language

import (
	"os"
	"strings"
	"testing"
)

// BenchmarkDetect detects the language of pages of some thousand letters.
func BenchmarkDetect(b *testing.B) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, text string }{
		{"English", string(text)},
		{"Russian", strings.Repeat("Текст на русском языке, в котором достаточно слов, чтобы узнать его без всякого сомнения.\n", 40)},
		{"Japanese", strings.Repeat("日本語の文章です。言語を調べるために十分な長さがあります。カタカナもあります。\n", 40)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			Detect(c.text)
			for b.Loop() {
				Detect(c.text)
			}
		})
	}
}
