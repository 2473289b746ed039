package language

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// tables.gz has the tables of the scripts in which several languages are written, as text. bench/languages
// makes it.
//
//go:embed tables.gz
var packed []byte

const (
	// maxLanguages bounds the languages of a table.
	maxLanguages = 48
	lanes        = 16 // languages in a number of 64 bits
	// Unit is what a cost of one stands for, in nats.
	Unit = 0.5
	// MaxCost is the highest cost of a feature.
	MaxCost = 15
)

// table says how likely the features of words are in the languages of a script. The cost of a
// feature in a language is how much rarer it is than in the language that has it most often, as a
// logarithm, in units.
type table struct {
	languages []string
	// rare is what a text costs in a language beside its features: languages that are rare beside those
	// that they are like have a cost.
	rare    []int
	buckets []bucket
	shift   uint // the high bits of a hash behind it are the number of a bucket
}

// bucket is a line of the processor's cache, in which the costs of two features are beside their names:
// a look-up waits for memory once. Its hash says in which bucket a feature is.
type bucket [2]struct {
	key   uint64
	costs [maxLanguages / lanes]uint64
}

var tables = sync.OnceValue(func() *[scripts]*table {
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("language: tables.gz: " + err.Error()) // it is a part of the program
	}
	all, err := readTables(zipped)
	if err != nil {
		panic("language: tables.gz: " + err.Error())
	}
	return all
})

// readTables reads tables from text. A table begins with the code of its script and its languages,
// some with what they cost.
// The lines behind it are features, each with a hexadecimal digit for each language. A feature
// shares the letters with the line before that a digit at its beginning says.
func readTables(from io.Reader) (*[scripts]*table, error) {
	all := new([scripts]*table)
	lines := bufio.NewScanner(from)
	var t *table
	last := ""
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		head, rest, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("the line %q has no columns", line)
		}
		if strings.HasPrefix(line, "= ") {
			fields := strings.Fields(rest)
			s := scriptOf(fields[0])
			if bucketBits[s] == 0 || len(fields)-1 > maxLanguages {
				return nil, fmt.Errorf("the table %q is not known", fields[0])
			}
			t = newTable(s)
			all[s] = t
			for _, field := range fields[1:] {
				name, cost, _ := strings.Cut(field, "+")
				n, err := strconv.Atoi("0" + cost)
				if err != nil {
					return nil, fmt.Errorf("the language %q: %w", field, err)
				}
				t.languages, t.rare = append(t.languages, name), append(t.rare, n)
			}
			last = ""
			continue
		}
		if t == nil || len(rest) != len(t.languages) {
			return nil, fmt.Errorf("the line %q has not as many columns as there are languages", line)
		}
		shared := int(head[0] - '0')
		runes := []rune(last)
		if shared < 0 || shared > len(runes) {
			return nil, fmt.Errorf("the line %q shares too much", line)
		}
		last = string(runes[:shared]) + head[1:]
		costs := t.place(last)
		if costs == nil {
			return nil, fmt.Errorf("the line %q is one of three with one hash", line)
		}
		for l, digit := range []byte(rest) {
			cost := uint64(digit - '0')
			if digit >= 'a' {
				cost = uint64(digit-'a') + 10
			}
			costs[l/lanes] |= cost << (4 * (l % lanes))
		}
	}
	return all, lines.Err()
}

func scriptOf(code string) script {
	for s, facts := range scriptFacts {
		if facts.code == code && code != "" {
			return script(s) //nolint:gosec // a few scripts
		}
	}
	return noScript
}

// bucketBits has, by script, the logarithm of the number of buckets of a table.
var bucketBits = [scripts]uint{latin: 13, cyrillic: 13, arabic: 11, devanagari: 11, bengali: 11, han: 11}

func newTable(s script) *table {
	return &table{buckets: make([]bucket, 1<<bucketBits[s]), shift: 64 - bucketBits[s]}
}

// place puts a feature into its bucket and returns its costs there, nil if the bucket is full.
func (t *table) place(feature string) *[maxLanguages / lanes]uint64 {
	key := keyOf(feature)
	b := &t.buckets[hash(key)>>t.shift]
	for i := range b {
		if b[i].key == 0 {
			b[i].key = key
			return &b[i].costs
		}
	}
	return nil
}

// Chosen returns the first of the features, best first, that a table of the script has room for, n at
// most. bench/languages makes tables of these.
func Chosen(code string, features []string, n int) (chosen []string) {
	t := newTable(scriptOf(code))
	for _, feature := range features {
		if len(chosen) < n && t.place(feature) != nil {
			chosen = append(chosen, feature)
		}
	}
	return chosen
}

// hash spreads a key. Its high bits say where a feature is.
func hash(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	key ^= key >> 29
	return key * 0xBF58476D1CE4E5B9
}

// score is what features cost in the languages of a table.
type score struct {
	// costs has 16 bits for every fourth language.
	costs     [maxLanguages / lanes][4]uint64
	hits, all int // features that the table has, and all
}

// sums adds up costs of features.
type sums struct {
	score
	// even and odd have the costs of the last features, in 8 bits for every second language.
	even, odd [maxLanguages / lanes]uint64
	last      int
}

const (
	// mostLast is how many costs fit into 8 bits together.
	mostLast         = 0xFF / MaxCost
	everySecondDigit = 0x0F0F0F0F0F0F0F0F
	everySecondByte  = 0x00FF00FF00FF00FF
)

// add adds the costs of features. It asks for all buckets before it reads the first one, so that the
// processor waits for memory once and not for each. No branch depends on whether the table has a
// feature: the processor would often guess wrong.
func (t *table) add(s *sums, keys []uint64) {
	var places [maxKeys]uint32
	any := uint64(0)
	for i, key := range keys {
		places[i] = uint32(hash(key) >> t.shift) //nolint:gosec // some thousand buckets
		any |= t.buckets[places[i]][0].key
	}
	s.all += len(keys)
	if any == 0 {
		return
	}
	for i, key := range keys {
		b := &t.buckets[places[i]]
		first, second := ifSame(b[0].key, key), ifSame(b[1].key, key)
		s.hits += int((first | second) & 1) //nolint:gosec // 0 or 1
		if s.last == mostLast {
			s.carry()
		}
		s.last++
		for j := range s.even {
			costs := b[0].costs[j]&first | b[1].costs[j]&second
			s.even[j] += costs & everySecondDigit
			s.odd[j] += costs >> 4 & everySecondDigit
		}
	}
}

// ifSame is all ones if a is b, and zero otherwise.
func ifSame(a, b uint64) uint64 {
	d := a ^ b
	return (d|-d)>>63 - 1
}

// carry adds the costs of the last features to the others.
func (s *sums) carry() {
	for j := range s.costs {
		s.costs[j][0] += s.even[j] & everySecondByte
		s.costs[j][1] += s.odd[j] & everySecondByte
		s.costs[j][2] += s.even[j] >> 8 & everySecondByte
		s.costs[j][3] += s.odd[j] >> 8 & everySecondByte
	}
	clear(s.even[:])
	clear(s.odd[:])
	s.last = 0
}

// addTo adds costs to sums, one for each language.
func (s *score) addTo(sums []int) {
	for l := range sums {
		sums[l] += int(s.costs[l/lanes][l%4] >> (16 * (l % lanes / 4)) & 0xFFFF) //nolint:gosec // 16 bits
	}
}
