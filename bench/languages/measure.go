package main

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"github.com/weftcrawl/weft/processors/parse/language"
)

const (
	// testBytes bounds what is taken of one kind of packages in one language.
	testBytes   = 400 << 10
	pageLetters = 200
	shortText   = 50
)

// score is how the texts of one language were told.
type score struct {
	texts, right, unknown int
	wrong                 map[string]int
}

func (s *score) count(want string, g language.Guess) bool {
	s.texts++
	switch {
	case g.Language == "":
		s.unknown++
	case same(want, g):
		s.right++
		return true
	default:
		if s.wrong == nil {
			s.wrong = map[string]int{}
		}
		s.wrong[g.Language]++
	}
	return false
}

// same reports whether a guess is what a text was labelled as.
func same(want string, g language.Guess) bool {
	name, script, _ := strings.Cut(want, "-")
	return g.Language == name && (script == "" || script == g.Script)
}

// measure prints how many texts of each language are told.
func measure(folder string, verbose bool) error {
	pages, shorts := map[string]*score{}, map[string]*score{}
	all, err := translated(folder, test)
	if err != nil {
		return err
	}
	language.Detect("The tables are read.")
	var spent time.Duration
	detected, letters := 0, 0
	for _, t := range all {
		body := t.body
		if n := lettersOf(body); n >= pageLetters {
			began := time.Now()
			g := language.Detect(body)
			spent += time.Since(began)
			detected, letters = detected+1, letters+n
			if !entry(pages, t.language).count(t.language, g) && verbose {
				fmt.Fprintf(os.Stderr, "%s: %s, not %s: %.80q\n", t.file, g.Language, t.language, body)
			}
		}
		n := 0
		for line := range strings.Lines(body) {
			if lettersOf(line) < shortText || n == 5 {
				continue
			}
			n++
			line = firstLetters(line, shortText)
			if g := language.Detect(line); !entry(shorts, t.language).count(t.language, g) && verbose {
				fmt.Fprintf(os.Stderr, "short %s, not %s: %q\n", g.Language, t.language, line)
			}
		}
	}
	report("pages of more than 200 letters", pages)
	report("texts of 50 letters", shorts)
	fmt.Printf("%.2f µs a page of %d letters\n", float64(spent.Nanoseconds())/1e3/float64(max(detected, 1)), letters/max(detected, 1))
	return nil
}

func entry(scores map[string]*score, name string) *score {
	if scores[name] == nil {
		scores[name] = &score{}
	}
	return scores[name]
}

func lettersOf(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// maxTail is the longest part of a word that is left out, in bytes: some scripts have no spaces.
const maxTail = 40

// firstLetters returns the beginning of a text with n letters at most, whole words only.
func firstLetters(s string, n int) string {
	end := 0
	for i, r := range s {
		if unicode.IsSpace(r) {
			end = i
		}
		if unicode.IsLetter(r) {
			if n == 0 {
				if end < i-maxTail {
					return s[:i]
				}
				return s[:end]
			}
			n--
		}
	}
	return s
}

func report(title string, scores map[string]*score) {
	names := make([]string, 0, len(scores))
	for name := range scores {
		names = append(names, name)
	}
	slices.Sort(names)
	var sum score
	mean, languages := 0.0, 0
	fmt.Printf("%s\n%-8s %7s %8s %8s  taken for\n", title, "language", "texts", "right %", "unknown")
	for _, name := range names {
		s := scores[name]
		var wrong []string
		for other, n := range s.wrong {
			wrong = append(wrong, fmt.Sprintf("%s %d", other, n))
		}
		sort.Strings(wrong)
		fmt.Printf("%-8s %7d %8.2f %8d  %s\n", name, s.texts, 100*float64(s.right)/float64(s.texts), s.unknown, strings.Join(wrong, ", "))
		sum.texts, sum.right, sum.unknown = sum.texts+s.texts, sum.right+s.right, sum.unknown+s.unknown
		mean += float64(s.right) / float64(s.texts)
		languages++
	}
	fmt.Printf("%-8s %7d %8.2f %8d  mean of the languages %.2f\n\n", fmt.Sprint(languages), sum.texts, 100*float64(sum.right)/float64(sum.texts), sum.unknown, 100*mean/float64(languages))
}
