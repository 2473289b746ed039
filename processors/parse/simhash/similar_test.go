package simhash

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const prose = "The quick brown fox jumps over the lazy dog, and then it runs back to where it came from: a den of 7 foxes."

func TestWhatFingerprintsDoNotSee(t *testing.T) {
	base, words := Of(prose)
	if words != 23 || base.Sim == 0 {
		t.Fatalf("%d words, SimHash %x", words, base.Sim)
	}
	for what, text := range map[string]string{
		"case":          strings.ToUpper(prose),
		"punctuation":   strings.ReplaceAll(prose, ",", " —"),
		"numbers":       strings.ReplaceAll(prose, " 7 ", " 12,345 "),
		"white space":   strings.ReplaceAll(prose, " ", "  "),
		"quotes":        "“" + prose + "”",
		"a number more": "2024 " + prose,
	} {
		got, _ := Of(text)
		if d, alike := base.Distance(got); got.Sim != base.Sim || got.Min != base.Min || d != 1 || !alike {
			t.Errorf("%s: SimHash %x instead of %x, distance %d, %v", what, got.Sim, base.Sim, d, alike)
		}
	}
}

func TestWhatFingerprintsSee(t *testing.T) {
	base, _ := Of(prose)
	for what, text := range map[string]string{
		"order":          strings.Join(reversed(strings.Fields(prose)), " "),
		"lines":          strings.Replace(strings.ReplaceAll(prose, " ", "\n"), "\n", " ", 10),
		"letters joined": strings.ReplaceAll(prose, " ", ""),
	} {
		if got, _ := Of(text); got.Sim == base.Sim || got.Min == base.Min {
			t.Errorf("%s changes nothing", what)
		}
	}
}

func reversed(words []string) (out []string) {
	for _, w := range words {
		out = append([]string{w}, out...)
	}
	return out
}

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"":                      0,
		"--- 1, 2; 3.5 ---":     0,
		"2nd v2 utf8 x86_64":    4, // the last is x86
		"don't":                 2,
		"Größe ΛΌΓΟΣ слово":     3,
		"naïve\u00a0café «mot»": 3,
		"日本語のテキスト":              8,
		"한국어 text":              2,
		"ภาษา":                  4,
		"हिन्दी भाषा":           2,
		"عربى نص":               2,
		"emoji 😀 and “quotes”":  3,
		"word\u3000全角":          3,
		"a\xc3":                 1, // a character that is cut
		"\xff\xfe a \xe2\x82 b": 2,
		"new\nline":             2,
	} {
		if _, got := Of(text); got != want {
			t.Errorf("%q has %d words, want %d", text, got, want)
		}
	}
	for a, b := range map[string]string{"ÄÖÜ Straße": "äöü straße", "ΛΌΓΟΣ": "λόγοσ", "СЛОВО": "слово"} {
		frame := strings.Repeat("frame ", MinWords)
		one, _ := Of(frame + a)
		two, _ := Of(frame + b)
		if one.Sim != two.Sim {
			t.Errorf("case of %q is not folded", a)
		}
	}
}

func TestDistance(t *testing.T) {
	hash := func(n byte) Hash { return Hash{n} }
	of := func(low, high uint64) MinHash { return MinHash{low | 1<<63, high} } // never none
	for _, test := range []struct {
		what  string
		a, b  Fingerprint
		d     int
		alike bool
	}{
		{"the same", Fingerprint{hash(1), 5, of(5, 5)}, Fingerprint{hash(1), 5, of(5, 5)}, 0, true},
		{"the same and short", Fingerprint{hash(1), 0, MinHash{}}, Fingerprint{hash(1), 0, MinHash{}}, 0, true},
		{"no bit and no bin, not the same", Fingerprint{hash(1), 5, of(5, 5)}, Fingerprint{hash(2), 5, of(5, 5)}, 1, true},
		{"two bits", Fingerprint{hash(1), 5, of(5, 5)}, Fingerprint{hash(2), 6, of(5, 5)}, 2, true},
		{"more bits than a distance has", Fingerprint{hash(1), 5, of(5, 5)}, Fingerprint{hash(2), 0xf00, of(5, 5)}, 3, true},
		{"as many bins as may differ", Fingerprint{hash(1), 5, of(0x1f, 0xf0)}, Fingerprint{hash(2), 4, of(0, 0x10f)}, 1, true},
		{"bins that differ in both bits", Fingerprint{hash(1), 5, of(0x1ff, 0x1ff)}, Fingerprint{hash(2), 4, of(0, 0)}, 1, true},
		{"a bin more", Fingerprint{hash(1), 5, of(0x3ff, 5)}, Fingerprint{hash(2), 5, of(0, 5)}, 0, false},
		{"short", Fingerprint{hash(1), 0, MinHash{}}, Fingerprint{hash(2), 0, MinHash{}}, 0, false},
		{"without a MinHash", Fingerprint{hash(1), 5, MinHash{}}, Fingerprint{hash(2), 5, of(5, 5)}, 0, false},
		{"no texts", Fingerprint{}, Fingerprint{}, 0, false},
	} {
		if d, alike := test.a.Distance(test.b); d != test.d || alike != test.alike {
			t.Errorf("%s: %d, %v", test.what, d, alike)
		}
	}
}

func TestHashAsText(t *testing.T) {
	p, _ := Of("text")
	if back, err := ParseHash(p.Hash.String()); err != nil || back != p.Hash {
		t.Errorf("%v came back as %v, %v", p.Hash, back, err)
	}
	for _, s := range []string{"", "12", strings.Repeat("g", 32), strings.Repeat("0", 34)} {
		if h, err := ParseHash(s); err == nil {
			t.Errorf("%q is %v", s, h)
		}
	}
}

func TestMinHashAsText(t *testing.T) {
	p, _ := Of(prose)
	if back, err := ParseMinHash(p.Min.String()); err != nil || back != p.Min {
		t.Errorf("%v came back as %v, %v", p.Min, back, err)
	}
	for _, s := range []string{"", "12", strings.Repeat("g", 32), strings.Repeat("0", 34)} {
		if m, err := ParseMinHash(s); err == nil {
			t.Errorf("%q is %v", s, m)
		}
	}
}

// The bins that agree tell what two sets have in common, however few members they
// have.
func TestMinHashEstimates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 200
	for _, both := range []int{5, 50, 5000} {
		for _, percent := range []int{0, 10, 50, 90} {
			own := max(1, both*(100-percent)/max(percent, 1)/2)
			if percent == 0 {
				own, both = both, 0
			}
			agree := 0
			for range trials {
				var a, b minima
				for range both {
					h := r.Uint64()
					a.add(h)
					b.add(h)
				}
				for range own {
					a.add(r.Uint64())
					b.add(r.Uint64())
				}
				agree += Bins - bits.OnesCount64(a.minHash().Differing(b.minHash()))
			}
			j := float64(both) / float64(both+2*own)
			want := Bins * (j + (1-j)/4)
			if got := float64(agree) / trials; math.Abs(got-want) > 1.5 {
				t.Errorf("%d in common and %d each: %.1f bins agree, want %.1f", both, own, got, want)
			}
		}
	}
}

// Numbers do not count, and names with digits do.
func TestDigitsOfNames(t *testing.T) {
	base, _ := Of(prose + " type f32 in x86 64")
	for text, alike := range map[string]bool{
		prose + " type f64 in x86 64": false,
		prose + " type f32 in x87 64": false,
		prose + " type f32 in x86 99": true,
	} {
		if got, _ := Of(text); (got.Min == base.Min) != alike {
			t.Errorf("%q is taken for the same: %v", text, !alike)
		}
	}
}

// Numbers make the grid of a month, which is compared however few its words, or a
// table, which is not, or nothing.
func TestNumerals(t *testing.T) {
	for _, c := range []struct {
		what, text string
		compared   bool
	}{
		{"a month", month("July 2031", 1, 31), true},
		{"a month in Japanese", "2031年7月 日 月 火 水 木 金 土 " + counting(1, 28), true},
		{"a month that begins in another", month("July 2031 30", 1, 31), true},
		{"weeks of February", "February 5 1 2 6 3 4 5 6 7 8 9 7 10 11 12 13 14 15 16 8 17 18 19 20 21 22 23 9 24 25 26 27 28", true},
		{"numbers alone", counting(1, 31), false},
		{"part of a month", month("July", 1, 27), false},
		{"the rest of a month", month("July", 2, 31), false},
		{"a year", strings.Repeat(month("July", 1, 31), 12) + " 2031", true},
		{"weeks of a year", month("Weeks", 1, 53), true},
		{"hours and minutes", "Thursday " + strings.Repeat("0:00 0:15 7:30 12:45 23:00 ", 20), false},
		{"a table", prose + " Values " + counting(1900, 2000), false},
		{"a table of numbered rows", "Rank Points " + strings.ReplaceAll(counting(1, 40), "\n", " 5000\n") + counting(1900, 1930), false},
		{"a table of few values", prose + strings.Repeat(counting(500, 550), 9), true},
		{"more words than numbers", strings.Repeat("word ", 200) + counting(1900, 2000), true},
		{"dates in prose", prose + strings.Repeat(" 2031-07-12", 90), true},
		{"names with numbers", strings.Repeat("a1 b2 ", 50), true},
	} {
		if p, _ := Of(c.text); (p.Sim != 0) != c.compared {
			t.Errorf("%s is compared: %v", c.what, p.Sim != 0)
		}
	}
	at := func(text string) Fingerprint { p, _ := Of(text); return p }
	july := at(month("July 2031", 1, 31))
	if _, alike := july.Distance(at(month("July 2032", 1, 31))); !alike {
		t.Error("two months of a name are not alike")
	}
	if _, alike := july.Distance(at(month("August 2031", 1, 31))); alike {
		t.Error("two months are alike")
	}
	if _, alike := july.Distance(at(month("July 2031", 1, 31) + " Concert")); alike {
		t.Error("a month is like one with an event")
	}
}

// month is the grid of a month.
func month(name string, from, to int) string {
	return name + "\n« »\nMo Tu We Th Fr Sa Su\n" + counting(from, to)
}

func counting(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "%d\n", n)
	}
	return b.String()
}

// Vertical counters count as counters do.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint64(), 0, 200).Draw(t, "words")
		var tally tally
		var want [64]uint64
		for _, w := range words {
			tally.add(w, ^w<<1)
			for i := range want {
				want[i] += w>>i&1 + ^w<<1>>i&1
			}
		}
		tally.settle()
		if tally.added != 2*uint64(len(words)) {
			t.Fatalf("%d added of %d", tally.added, len(words))
		}
		for i := range want {
			if got := tally.count(i); got != want[i] {
				t.Fatalf("bit %d is set in %d, counted %d", i, want[i], got)
			}
		}
	})
}

// Letters are the same one by one and eight at a time.
func TestLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "text"))
		run, n := letters(text+"        ", 0)
		if len(text) > 8 {
			text = text[:8]
		}
		if slow, m := letters(text[:len(text)-1], 0); n < len(text) && (slow != run || m != n) {
			t.Fatalf("%x, %d and %x, %d", run, n, slow, m)
		}
		for i := range n {
			if byte(run>>(8*i)) != classes[text[i]] || classes[text[i]] < firstLetter {
				t.Fatalf("byte %d of %q is %x", i, text, run)
			}
		}
		if n < len(text) && classes[text[n]] >= firstLetter {
			t.Fatalf("%q has more than %d letters", text, n)
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	text := strings.Repeat(prose+"\nGröße 日本\n", 50)
	if n := testing.AllocsPerRun(20, func() { Of(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzOf: whatever the bytes, a fingerprint is a function of them, sees no case
// of ASCII, and has a SimHash when there are words.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", prose, "日本語のテキスト ภาษา한국어", "\xc2\n\xe2\x82\xff\xf0\x9f", strings.Repeat("a1 ", 40), "ΛΌΓΟΣ\n\n\u00a0x", month("July 2031", 1, 31)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, words := Of(text)
		if again, same := Of(strings.Clone(text)); again != p || same != words {
			t.Fatal("two fingerprints of one text")
		}
		var s scanner
		s.read(text)
		if p.Sim != 0 && words == 0 || p.Sim == 0 && words >= MinWords && !s.isTable(words) {
			t.Errorf("SimHash %x of %d words", p.Sim, words)
		}
		upper := []byte(text)
		for i, c := range upper {
			if c >= 'a' && c <= 'z' {
				upper[i] = c - 'a' + 'A'
			}
		}
		if q, _ := Of(string(upper)); q.Sim != p.Sim || q.Min != p.Min {
			t.Error("case changes a fingerprint")
		}
		if p.Min.Empty() != (p.Sim == 0) {
			t.Errorf("MinHash %v beside SimHash %x", p.Min, p.Sim)
		}
		if p.Empty() != (text == "") {
			t.Error("a text is empty or it is not")
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text := strings.Repeat(prose+"\nHome\nAbout us\nGröße und Länge\n", 50)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}
