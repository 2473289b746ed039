package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/zeebo/xxh3"
)

// inRow is the number of words in a row that make a shingle.
const inRow = 4

// unspaced are scripts that part no words: each of their characters is one.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// wordsOf are the runs of letters, marks and digits of a text, in lower case, and those
// of digits alone if numbers are words. It shares nothing with package simhash, which
// is judged by it.
func wordsOf(text string, numbers bool) (words []string) {
	begin := -1
	end := func(at int) {
		if begin >= 0 && (numbers || strings.Trim(text[begin:at], "0123456789") != "") {
			words = append(words, strings.ToLower(text[begin:at]))
		}
		begin = -1
	}
	for i, r := range text {
		switch {
		case r >= 0x0e00 && unicode.In(r, unspaced...):
			end(i)
			words = append(words, string(r))
		case unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit):
			if begin < 0 {
				begin = i
			}
		default:
			end(i)
		}
	}
	end(len(text))
	return words
}

// shingles is the set of runs of words of a text, as sorted hashes; of a text with
// fewer words than a run has, the one of all.
func shingles(text string, numbers bool) []uint64 {
	words := wordsOf(text, numbers)
	if len(words) == 0 {
		return nil
	}
	var all []uint64
	for i := range max(1, len(words)-inRow+1) {
		all = append(all, xxh3.HashString(strings.Join(words[i:min(i+inRow, len(words))], " ")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// jaccard is the share of two sets that both have.
func jaccard(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// rounding is more than what a product of floats is off by.
const rounding = 1e-9

// pairs visits all pairs of sets, the earlier one first, that have at least so much in
// common. It is exact: sets that are so alike have one of their rarest members in
// common (Chaudhuri, Ganti, Kaushik: A primitive operator for similarity joins, 2006), so
// that only those are looked up.
func pairs(sets [][]uint64, least float64, visit func(earlier, later int, similarity float64)) {
	frequency := map[uint64]int32{}
	for _, set := range sets {
		for _, s := range set {
			frequency[s]++
		}
	}
	having := map[uint64][]int32{}
	for later, set := range sets {
		rarest := slices.Clone(set)
		slices.SortFunc(rarest, func(a, b uint64) int {
			return cmp.Or(cmp.Compare(frequency[a], frequency[b]), cmp.Compare(a, b))
		})
		rarest = rarest[:min(len(set), len(set)-int(math.Ceil(least*float64(len(set))-rounding))+1)]
		looked := map[int32]bool{}
		for _, s := range rarest {
			for _, earlier := range having[s] {
				if looked[earlier] {
					continue
				}
				looked[earlier] = true
				other := sets[earlier]
				if few, many := min(len(set), len(other)), max(len(set), len(other)); float64(few) < least*float64(many) {
					continue
				}
				if j := jaccard(other, set); j >= least {
					visit(int(earlier), later, j)
				}
			}
			having[s] = append(having[s], int32(later))
		}
	}
}
