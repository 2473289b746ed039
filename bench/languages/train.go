package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/weftcrawl/weft/processors/parse/language"
)

// trained are the languages of the tables. Languages that have a script alone need none.
var trained = map[string][]string{
	"Latn": {
		"af", "br", "ca", "cs", "cy", "da", "de", "en", "eo", "es", "et", "eu", "fi", "fr", "ga", "gd", "gl", "hr", "hu", "id", "is", "it",
		"kmr", "lt", "lv", "nb", "nl", "nn", "oc", "om", "pl", "pt", "ro", "rw", "sk", "sl", "sq", "sr", "sv", "tn", "tr", "uz", "vi", "xh", "zu",
	},
	"Cyrl": {"be", "bg", "kk", "mk", "mn", "ru", "sr", "tg", "uk"},
	"Arab": {"ar", "fa", "ug", "ur"},
	"Deva": {"hi", "mr", "ne"},
	"Beng": {"as", "bn"},
	"Hani": {"zh-Hans", "zh-Hant"},
}

const (
	// trainingBytes bounds what is taken of one kind of packages in one language.
	trainingBytes = 800 << 10
	// smoothing is added to each share of a feature, as a share of all features of the language.
	smoothing = 2e-6
	// leastCount is how often a feature must be found.
	leastCount = 6
)

// kept is how many features a table has.
var kept = map[string]int{"Latn": 14_000, "Cyrl": 7_000, "Arab": 2_000, "Deva": 2_000, "Beng": 2_000, "Hani": 2_000}

// inLatin writes Serbian in Latin letters: there is little text in them.
var inLatin = strings.NewReplacer(strings.Fields(`А A Б B В V Г G Д D Ђ Đ Е E Ж Ž З Z И I Ј J К K Л L Љ Lj М M Н N Њ Nj О O П P Р R
	С S Т T Ћ Ć У U Ф F Х H Ц C Ч Č Џ Dž Ш Š а a б b в v г g д d ђ đ е e ж ž з z и i ј j к k л l љ lj м m н n њ nj о o п p р r
	с s т t ћ ć у u ф f х h ц c ч č џ dž ш š`)...)

// rare are languages that are rare beside those that they are like: by how much a text must be more like
// them, in units of the tables.
var rare = map[string]string{
	"Latn sr": "+5", // most Serbian pages are in Cyrillic letters, or declare that they are Serbian
	"Latn gl": "+3", "Latn oc": "+4", "Latn nn": "+3", "Latn nb": "+1", "Latn af": "+2", "Latn br": "+2", "Latn eo": "+2", "Latn gd": "+2",
	"Latn kmr": "+2", "Latn om": "+3", "Latn rw": "+3", "Latn tn": "+3", "Latn xh": "+3", "Latn zu": "+3",
}

// counts are how often the features of a script were found in a language.
type counts struct {
	features map[string]float64
	all      float64
}

func train(folder, out string) error {
	found := map[string]map[string]*counts{}
	for s := range trained {
		found[s] = map[string]*counts{}
	}
	seen := map[string]bool{}
	err := walk(folder, training, trainingBytes, func(t text) {
		name := strings.TrimSuffix(t.language, "-Latn")
		for line := range strings.Lines(t.body) {
			if key := name + line; seen[key] { // menus are in all pages
				continue
			} else if len(line) > 20 {
				seen[key] = true
			}
			if name == "sr" && t.language == "sr" {
				line += "\n" + inLatin.Replace(line)
			}
			language.Features(line, func(script, feature string) {
				if !slices.Contains(trained[script], name) {
					return
				}
				c := found[script][name]
				if c == nil {
					c = &counts{features: map[string]float64{}}
					found[script][name] = c
				}
				c.features[feature]++
				c.all++
			})
		}
	})
	if err != nil {
		return err
	}
	file, err := os.Create(out) //nolint:gosec // the file that the user names
	if err != nil {
		return err
	}
	zipped, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(zipped)
	fmt.Fprintf(w, "# Features of words and their costs in languages. Made by bench/languages; package language says what they mean.\n")
	for _, s := range []string{"Latn", "Cyrl", "Arab", "Deva", "Beng", "Hani"} {
		write(w, s, trained[s], found[s])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return file.Close()
}

func write(w *bufio.Writer, script string, names []string, found map[string]*counts) {
	fmt.Fprintf(w, "= %s", script)
	for _, name := range names {
		fmt.Fprintf(w, " %s%s", name, rare[script+" "+name])
	}
	fmt.Fprintln(w)
	type row struct {
		feature string
		gain    float64
		digits  string
	}
	total := map[string]float64{}
	for _, name := range names {
		c := found[name]
		if c == nil {
			fmt.Fprintf(os.Stderr, "languages: nothing in %s\n", name)
			continue
		}
		fmt.Fprintf(os.Stderr, "%s %s %.0f features\n", script, name, c.all)
		for f, n := range c.features {
			total[f] += n
		}
	}
	var rows []row
	for f, n := range total {
		if n < leastCount {
			continue
		}
		shares := make([]float64, len(names))
		mean, best := 0.0, 0.0
		for l, name := range names {
			shares[l] = smoothing
			if c := found[name]; c != nil {
				shares[l] += c.features[f] / c.all
			}
			mean += shares[l] / float64(len(names))
			best = max(best, shares[l])
		}
		r := row{feature: f}
		digits := make([]byte, len(names))
		for l, share := range shares {
			r.gain += share * math.Log(share/mean)
			cost := min(language.MaxCost, int(math.Round(math.Log(best/share)/language.Unit)))
			digits[l] = "0123456789abcdef"[cost]
		}
		r.digits = string(digits)
		rows = append(rows, r)
	}
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].gain > rows[j].gain || rows[i].gain == rows[j].gain && rows[i].feature < rows[j].feature
	})
	digits := map[string]string{}
	features := make([]string, len(rows))
	for i, r := range rows {
		digits[r.feature], features[i] = r.digits, r.feature
	}
	features = language.Chosen(script, features, kept[script])
	slices.Sort(features)
	var last []rune
	for _, feature := range features {
		this := []rune(feature)
		shared := 0
		for shared < len(last) && shared < len(this) && last[shared] == this[shared] {
			shared++
		}
		fmt.Fprintf(w, "%d%s %s\n", shared, string(this[shared:]), digits[feature])
		last = this
	}
}
