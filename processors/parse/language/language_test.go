package language

import (
	_ "embed"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

//go:embed testdata/texts.txt
var texts string

// labelled gives the texts of testdata with their languages.
func labelled(t *testing.T, take func(label, text string)) (languages int) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(texts) {
		label, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(label, "-")
		seen[name] = true
		take(label, text)
	}
	return len(seen)
}

func (g Guess) is(label string) bool {
	name, script, _ := strings.Cut(label, "-")
	return g.Language == name && (script == "" || g.Script == script)
}

// TestBars holds what issue 20 asks for, on a part of the texts of bench/languages: 99 % of texts of
// more than 200 letters, and 90 % of those of 50.
func TestBars(t *testing.T) {
	long, short, longRight, shortRight := 0, 0, 0, 0
	languages := labelled(t, func(label, text string) {
		long++
		if g := Detect(text); g.is(label) {
			longRight++
		} else {
			t.Logf("%+v, not %s: %s", g, label, text)
		}
		short++
		if g := Detect(beginning(text, 50)); g.is(label) {
			shortRight++
		} else {
			t.Logf("%+v, not %s: %s", g, label, beginning(text, 50))
		}
	})
	t.Logf("%d languages, %d of %d, %d of %d", languages, longRight, long, shortRight, short)
	if languages < 30 || longRight*100 < long*99 || shortRight*100 < short*90 {
		t.Errorf("%d languages: %d of %d long texts and %d of %d short ones are right", languages, longRight, long, shortRight, short)
	}
}

// beginning returns the first words of a text with n letters at most.
func beginning(text string, n int) string {
	space := 0
	for i, r := range text {
		if r == ' ' {
			space = i
		}
		if !unicode.IsLetter(r) {
			continue
		}
		if n--; n < 0 {
			if space < i/2 { // a script without spaces
				space = i
			}
			return text[:space]
		}
	}
	return text
}

func TestScripts(t *testing.T) {
	for _, test := range []struct{ text, language, script, direction string }{
		{"Καλημέρα κόσμε", "el", "Grek", "ltr"},
		{"שלום עולם", "he", "Hebr", "rtl"},
		{"สวัสดีชาวโลก", "th", "Thai", "ltr"},
		{"안녕하세요 세계", "ko", "Kore", "ltr"},
		{"これは日本語の文章です。", "ja", "Jpan", "ltr"},
		{"这是一个用简体中文写的句子，说明问题。", "zh", "Hans", "ltr"},
		{"這是一個用繁體中文寫的句子，說明問題。", "zh", "Hant", "ltr"},
		{"هذا نص باللغة العربية وهو طويل بما يكفي لكي نعرف لغته", "ar", "Arab", "rtl"},
		{"این یک متن فارسی است و به اندازه کافی طولانی است که زبان آن شناخته شود", "fa", "Arab", "rtl"},
		{"Это предложение написано на русском языке", "ru", "Cyrl", "ltr"},
		{"Це речення написане українською мовою, і воно досить довге", "uk", "Cyrl", "ltr"},
		// Technical texts in other scripts have many words in Latin letters.
		{"Установите пакет network-manager-gnome командой apt install и перезапустите NetworkManager через systemctl", "ru", "Cyrl", "ltr"},
		// A script without a language that it belongs to.
		{"བོད་ཀྱི་སྐད་ཡིག་", "", "Tibt", "ltr"},
	} {
		g := Detect(test.text)
		if g.Language != test.language || g.Script != test.script || Direction(g.Script) != test.direction {
			t.Errorf("%s: %+v %s", test.text, g, Direction(g.Script))
		}
		if (g.Confidence > 0) != (g.Language != "") || g.Confidence > 1 {
			t.Errorf("%s: confidence %v", test.text, g.Confidence)
		}
	}
}

// TestUnknown holds that there is no guess where one would be a lie.
func TestUnknown(t *testing.T) {
	english := "The quick brown fox jumps over the lazy dog, and nobody knows why it should have done so at all today. "
	german := "Der schnelle braune Fuchs springt über den faulen Hund, und niemand weiß, warum er das heute getan hat. "
	for name, text := range map[string]string{
		"empty":       "",
		"no letters":  "1 2 3 4 5 6 7 8 9 — … !!! 2024-01-01",
		"a word":      "Information",
		"two words":   "Hotel Europa",
		"names":       "fooBar /usr/share/doc/foo.conf http://example.com/a?b=c --option=value x86_64 a_b_c FOO_BAR",
		"mixed":       strings.Repeat(english+"\n"+german+"\n", 4),
		"mixed words": strings.Repeat("Это русский текст, который достаточно длинный для проверки языка сейчас.\n"+english+"\n"+german+"\n", 3),
		"noise":       noise(400),
		"invalid":     strings.Repeat("\xff\xfe\x80", 100),
	} {
		if g := Detect(text); g.Language != "" || g.Confidence != 0 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if g := Detect("Home\nAbout\nContact\n" + strings.Repeat(german, 3)); g.Language != "de" {
		t.Errorf("a menu before the text: %+v", g)
	}
}

// noise is text of letters without any order.
func noise(letters int) string {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	var out strings.Builder
	for i := range letters {
		out.WriteByte("qxzjkvwybfg"[r.IntN(11)])
		if i%7 == 6 {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// TestTables holds that no sum of costs overflows its bits, and that the features of a table are found.
func TestTables(t *testing.T) {
	known := 0
	for _, table := range tables() {
		if table == nil {
			continue
		}
		known += len(table.languages)
		for i := range table.buckets {
			for _, feature := range table.buckets[i] {
				var s sums
				if feature.key == 0 {
					continue
				}
				if table.add(&s, []uint64{feature.key}); s.hits != 1 {
					t.Errorf("the feature %q is not found", lettersOf(feature.key))
				}
			}
		}
	}
	if known < 50 {
		t.Errorf("%d languages", known)
	}
	if most := 2 * sampleLetters; most*MaxCost > 0xFFFF {
		t.Errorf("%d features of a piece may cost %d", most, most*MaxCost)
	}
	var s sums
	var table table
	table.buckets, table.shift = make([]bucket, 1), 64
	costs := table.place("abc")
	for i := range costs {
		costs[i] = 1<<64 - 1 - 0xF0
	}
	for range sampleLetters {
		table.add(&s, []uint64{keyOf("abc")})
	}
	s.carry()
	sums := make([]int, maxLanguages)
	s.addTo(sums)
	for l, sum := range sums {
		want := MaxCost * sampleLetters
		if l%lanes == 1 {
			want = 0
		}
		if sum != want {
			t.Errorf("the costs of language %d are %d, want %d", l, sum, want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for line := range strings.Lines(texts) {
		f.Add(line)
	}
	f.Add(noise(50))
	f.Add("l'homme’s\n--a.b:c\xff漢字かな")
	f.Fuzz(func(t *testing.T, text string) {
		g := Detect(text)
		if g.Confidence < 0 || g.Confidence > 1 || (g.Language == "") != (g.Confidence == 0) || g.Language != "" && g.Script == "" {
			t.Errorf("%+v", g)
		}
		if g != Detect(text) {
			t.Error("two guesses of one text")
		}
		if utf8.ValidString(text) {
			Features(text, func(string, string) {})
		}
	})
}
