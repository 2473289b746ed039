package plain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are texts on which readers of Markdown take time that grows with the square of the text,
// stack, or memory. Most are of goldmark's and cmark's lists of such inputs.
func hostile(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var ticks, items strings.Builder
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
	}
	for i := 0; items.Len() < n; i++ {
		items.WriteString(strings.Repeat(" ", i) + "- a\n")
	}
	return map[string]string{
		"quotes": repeat(">"), "quotes apart": repeat("> "), "lists": repeat("- "), "numbers": repeat("1. "), "items": items.String(),
		"brackets": repeat("["), "links that do not end": repeat("[a]("), "destinations": repeat("[a](<b"), "titles": repeat(`[a](b "`),
		"images": repeat("!["), "nested images": repeat("![") + repeat("](a)"), "nested links": repeat("[") + repeat("](a)"), "links in brackets": repeat("[") + repeat("[a](b)"),
		"references": "[a]: b\n\n" + repeat("[a][") + repeat("]"), "labels": "[a]: b\n\n" + repeat("[") + repeat("]"),
		"emphasis": repeat("*a_"), "stars": repeat("a**b") + repeat("c* "), "ticks": ticks.String(), "tags": repeat("<a "), "open tags": repeat("<a href=b>"),
		"comments": repeat("<!--"), "comments apart": repeat("<!--\n"), "headings": repeat("<h1>"), "URLs": repeat("http://a"), "URLs in brackets": repeat("[http://a"),
		"entities": repeat("&a"), "bars": repeat("|") + "\n" + repeat("|-"), "table": repeat("a|") + "\n" + repeat("-|") + "\n" + repeat("|a\n"),
		"escapes": repeat(`\(`), "definitions": repeat("[a]:b\n"), "fences": repeat("```\n"), "bytes": repeat("\x00\xff["),
		"depth": repeat("["), "objects": repeat(`{"a":`), "strings": repeat(`"a"`), "separators": repeat("\x1e"), "cells": repeat(`",`), "rows": repeat("\"\n"),
	}
}

// TestHostile reads texts that take goldmark seconds to minutes. A reader that is not linear would
// not end in the time that go test has. What is made of a text is not much longer than the text.
func TestHostile(t *testing.T) {
	for name, text := range hostile(200_000) {
		p := &page{}
		ReadMarkdown(text, p)
		if got := p.text.Len(); got > 3*len(text)+1000 {
			t.Errorf("%s: a text of %d bytes makes %d", name, len(text), got)
		}
		found := 0
		_, json := ReadJSON(text, func(string) { found++ })
		ReadLines(text, func(string) { found++ })
		ReadCSV(text, func(string) { found++ })
		URLs(text, func(string) { found++ })
		if found > len(text) {
			t.Errorf("%s: %d URLs", name, found)
		}
		outcomes := map[string]string{"depth": TooDeep, "objects": TooDeep, "strings": "", "separators": "", "bytes": BadSyntax, "quotes": BadSyntax}
		want, known := outcomes[name]
		if known && want != json {
			t.Errorf("%s: as JSON it is wrong by %q, want %q", name, json, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, text := range hostile(60) {
		f.Add(text)
	}
	f.Add("---\ntitle: a\n---\n# b\n\n[c](d) ![e](f)\n\n| g | h |\n|---|---|\n| i | j |\n")
	f.Add(`{"a":["https://b.example/"]}` + "\n" + `{"c":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		p := &page{}
		ReadMarkdown(text, p)
		if !utf8.ValidString(p.text.String()) || !utf8.ValidString(strings.Join(p.links, "")) {
			t.Errorf("%q: not UTF-8: %q, %q", text, p.text.String(), p.links)
		}
		again := &page{}
		ReadMarkdown(text, again)
		if again.text.String() != p.text.String() {
			t.Errorf("%q: read twice it differs", text)
		}
		check := func(url string) {
			if !isURL(url) || !strings.Contains(text, url[len("http://"):]) && !strings.ContainsAny(text, `\"`) {
				t.Errorf("%q: %q is no URL of it", text, url)
			}
		}
		ReadJSON(text, check)
		ReadLines(text, check)
		ReadCSV(text, check)
		URLs(text, check)
		Kind("text/plain", "https://a.example/"+text, []byte(text))
	})
}
