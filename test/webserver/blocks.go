package webserver

import (
	_ "embed"
	"html"
	"math/rand/v2"
	"strconv"
	"strings"
)

//go:embed words.txt
var wordList string

// vocabulary draws words as documentation does: a word's frequency falls with
// its rank (Zipf's law, exponent 1.05).
type vocabulary struct {
	words []string
	zipf  *rand.Zipf
	rng   *rand.Rand
}

func newVocabulary(rng *rand.Rand) *vocabulary {
	words := strings.Fields(wordList)
	return &vocabulary{words, rand.NewZipf(rng, 1.05, 3, uint64(len(words)-1)), rng}
}

func (v *vocabulary) word() string { return v.words[v.zipf.Uint64()] }

// phrase is n words, the first one capitalised when it is plain ASCII.
func (v *vocabulary) phrase(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = v.word()
	}
	s := strings.Join(words, " ")
	if c := s[0]; 'a' <= c && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	return s
}

// newBlocks makes the markup of n blocks of a page's body: of ten blocks, six are
// paragraphs, two are code examples, one is a list and one a heading. There is white
// space between words and markup, so that the text does not depend on how a parser
// joins inline elements.
func newBlocks(seed uint64, n int) []string {
	rng := rand.New(rand.NewPCG(seed, 0xb10c))
	v := newVocabulary(rng)
	blocks := make([]string, n)
	for i := range blocks {
		switch i % 10 {
		case 3, 7:
			blocks[i] = v.code()
		case 5:
			blocks[i] = v.list()
		case 9:
			h := v.phrase(2 + rng.IntN(4))
			level := strconv.Itoa(2 + rng.IntN(2))
			blocks[i] = "<h" + level + " id=\"s" + strconv.Itoa(i) + "\">" + escape(h) + "</h" + level + ">\n"
		default:
			blocks[i] = v.paragraph()
		}
	}
	return blocks
}

func (v *vocabulary) paragraph() string {
	sentences := make([]string, 2+v.rng.IntN(4))
	for i := range sentences {
		a, b := v.phrase(4+v.rng.IntN(10)), v.phrase(3+v.rng.IntN(8))
		mid := v.word()
		tag := [...]string{"code", "em", "strong", "span"}[v.rng.IntN(4)]
		sentences[i] = escape(a) + " <" + tag + " class=\"pre\">" + escape(mid) + "</" + tag + "> " + escape(b) + " &amp; so on."
	}
	return "<p>" + strings.Join(sentences, "\n") + "</p>\n"
}

// code is marked up word by word, as syntax highlighters do.
func (v *vocabulary) code() string {
	var markup strings.Builder
	markup.WriteString("<div class=\"highlight\"><pre>")
	for line := range 3 + v.rng.IntN(8) {
		f, a, b := v.word(), v.word(), v.word()
		markup.WriteString("<span class=\"n\">" + escape(a) + "</span> <span class=\"o\">=</span> <span class=\"nf\">" + escape(f) +
			"</span> <span class=\"p\">(</span> <span class=\"n\">" + escape(b) + "</span> <span class=\"o\">&lt;</span> <span class=\"mi\">" +
			strconv.Itoa(line) + "</span> <span class=\"p\">)</span>\n")
	}
	markup.WriteString("</pre></div>\n")
	return markup.String()
}

func (v *vocabulary) list() string {
	var markup strings.Builder
	markup.WriteString("<ul class=\"simple\">\n")
	for range 3 + v.rng.IntN(5) {
		markup.WriteString("<li><p>" + escape(v.phrase(3+v.rng.IntN(9))) + "</p></li>\n")
	}
	markup.WriteString("</ul>\n")
	return markup.String()
}

// escape writes é as a named reference, so that pages have some.
func escape(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "é", "&eacute;")
}
