package simhash_test

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

//go:embed testdata/pages.gz
var packed []byte

// pages are the texts of real pages of one site, see testdata/README.md. No two
// of them are the same page.
func pages(t testing.TB) (texts []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for page := range strings.SplitSeq(string(raw), "\f") {
		_, text, _ := strings.Cut(page, "\n")
		texts = append(texts, text)
	}
	if len(texts) < 200 {
		t.Fatalf("only %d pages", len(texts))
	}
	return texts
}

// edit makes of a page what a reader calls the same page. Words come from other.
type edit struct {
	name string
	make func(r *rand.Rand, page, other []string) []string
}

// words returns n of them in a row of a page.
func words(r *rand.Rand, page []string, n int) string {
	all := strings.Fields(strings.Join(page, " "))
	at := r.IntN(max(1, len(all)-n))
	return strings.Join(all[at:min(len(all), at+n)], " ")
}

// paragraph is the place of one of at least 20 words; -1: there is none.
func paragraph(r *rand.Rand, page []string) int {
	var all []int
	for i, line := range page {
		if len(strings.Fields(line)) >= 20 {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[r.IntN(len(all))]
}

var edits = []edit{
	{"dates and counters", func(r *rand.Rand, page, _ []string) []string {
		return append(slices.Clone(page), fmt.Sprintf("Last updated on %s %d, %d. %d comments, seen %d times.",
			[]string{"January", "March", "October", "December"}[r.IntN(4)], 1+r.IntN(28), 2000+r.IntN(26), r.IntN(2000), r.IntN(100_000)))
	}},
	{"navigation", func(r *rand.Rand, page, other []string) (out []string) {
		for range 12 {
			out = append(out, words(r, other, 1+r.IntN(3)))
		}
		return append(out, page...)
	}},
	{"advertisements", func(r *rand.Rand, page, other []string) []string {
		out := slices.Clone(page)
		for range 3 {
			out = slices.Insert(out, r.IntN(len(out)+1), words(r, other, 8))
		}
		return out
	}},
	{"a paragraph changed", func(r *rand.Rand, page, other []string) []string {
		out, at := slices.Clone(page), paragraph(r, page)
		if at >= 0 {
			out[at] = words(r, other, len(strings.Fields(out[at])))
		}
		return out
	}},
	{"a paragraph removed", func(r *rand.Rand, page, _ []string) []string {
		if at := paragraph(r, page); at >= 0 {
			return slices.Delete(slices.Clone(page), at, at+1)
		}
		return page
	}},
	{"one word in 200 changed", func(r *rand.Rand, page, _ []string) []string {
		out := slices.Clone(page)
		for i, line := range out {
			of := strings.Split(line, " ")
			for j := range of {
				if r.IntN(200) == 0 {
					of[j] = "edited" + string(rune('a'+r.IntN(26)))
				}
			}
			out[i] = strings.Join(of, " ")
		}
		return out
	}},
	{"a header and a footer around it", func(r *rand.Rand, page, other []string) []string {
		return append(append([]string{words(r, other, 30)}, page...), words(r, other, 30))
	}},
}

// The bars: identical texts are always found, at least 70 in 100 edited pages are
// at most MaxDistance from what they were, and at most 5 in 1,000 pairs of
// different pages are taken for each other, whether of one site or of one
// template, and no pair of long ones.
func TestBars(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	texts := pages(t)
	prints := make([]simhash.Fingerprint, len(texts))
	lines := make([][]string, len(texts))
	for i, text := range texts {
		prints[i], _ = simhash.Of(text)
		lines[i] = strings.Split(text, "\n")
		if again, _ := simhash.Of(strings.Clone(text)); again != prints[i] {
			t.Fatalf("page %d has two fingerprints", i)
		}
	}
	t.Run("near", func(t *testing.T) {
		var all, found int
		for _, e := range edits {
			var of, hit int
			for i := range texts {
				edited := strings.Join(e.make(r, lines[i], lines[r.IntN(len(lines))]), "\n")
				if edited == texts[i] {
					continue
				}
				of++
				print, _ := simhash.Of(edited)
				if d, alike := print.Distance(prints[i]); alike && d > 0 {
					hit++
				}
			}
			t.Logf("%s: %d of %d, %.0f %%", e.name, hit, of, 100*float64(hit)/float64(of))
			if 2*hit < of {
				t.Errorf("%s: less than half are found", e.name)
			}
			all, found = all+of, found+hit
		}
		t.Logf("together %.1f %%", 100*float64(found)/float64(all))
		if 10*found < 7*all {
			t.Errorf("%d of %d found, less than 70 %%", found, all)
		}
	})
	t.Run("different", func(t *testing.T) {
		wrong, of := confused(prints)
		t.Logf("%d of %d pairs, %.4f %%", wrong, of, 100*float64(wrong)/float64(of))
		if 1000*wrong > 5*of {
			t.Errorf("%d of %d pairs are taken for each other", wrong, of)
		}
	})
	// The words of long texts of one language are as frequent in one as in another.
	t.Run("long and different", func(t *testing.T) {
		var long []simhash.Fingerprint
		for chapters := range slices.Chunk(texts, 10) {
			print, _ := simhash.Of(strings.Join(chapters, "\n"))
			long = append(long, print)
		}
		wrong, of := confused(long)
		t.Logf("%d of %d pairs", wrong, of)
		if wrong > 0 {
			t.Errorf("%d of %d pairs are taken for each other", wrong, of)
		}
	})
	for _, body := range []int{20, 40, 80, 160} {
		t.Run(fmt.Sprintf("template and %d words", body), func(t *testing.T) {
			var wrong, of int
			for range 20 {
				var frame []string
				for range 60 { // 150 words in lines of 1 to 4
					frame = append(frame, words(r, lines[r.IntN(len(lines))], 1+r.IntN(4)))
				}
				site := make([]simhash.Fingerprint, 40)
				for i := range site {
					page := append(slices.Clone(frame), words(r, lines[r.IntN(len(lines))], body), "All rights reserved.")
					site[i], _ = simhash.Of(strings.Join(page, "\n"))
				}
				w, n := confused(site)
				wrong, of = wrong+w, of+n
			}
			t.Logf("%d of %d pairs, %.3f %%", wrong, of, 100*float64(wrong)/float64(of))
			if 1000*wrong > 5*of {
				t.Errorf("%d of %d pairs are taken for each other", wrong, of)
			}
		})
	}
}

// confused counts the pairs that are taken for each other.
func confused(prints []simhash.Fingerprint) (wrong, pairs int) {
	for i, a := range prints {
		for _, b := range prints[:i] {
			pairs++
			if _, alike := a.Distance(b); alike {
				wrong++
			}
		}
	}
	return wrong, pairs
}
