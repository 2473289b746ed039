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
	lanes        = 8 // languages in a number of 64 bits
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
	rare  []int
	words int // numbers of 64 bits in a row
	// slots has, at the hash of a feature, what tells the feature from others with that hash, and in the
	// low 16 bits the number of its row plus one. To find both in one place matters: most look-ups
	// wait for memory.
	slots []uint32
	rows  []uint64
	shift uint
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
	var features []string
	var costs [][]byte
	var s script
	end := func() {
		if t != nil {
			t.build(features, costs)
			all[s], features, costs, t = t, nil, nil, nil
		}
	}
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
			end()
			fields := strings.Fields(rest)
			if s = scriptOf(fields[0]); s == noScript || len(fields)-1 > maxLanguages {
				return nil, fmt.Errorf("the table %q is not known", fields[0])
			}
			t = &table{words: (len(fields) - 1 + lanes - 1) / lanes}
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
		features, costs = append(features, last), append(costs, []byte(rest))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	end()
	return all, nil
}

func scriptOf(code string) script {
	for s, facts := range scriptFacts {
		if facts.code == code && code != "" {
			return script(s) //nolint:gosec // a few scripts
		}
	}
	return noScript
}

// build makes the table of features and their costs.
func (t *table) build(features []string, costs [][]byte) {
	bits := uint(4)
	for 1<<bits < 4*len(features) {
		bits++
	}
	t.shift = 64 - bits
	t.slots = make([]uint32, 1<<bits)
	t.rows = make([]uint64, t.words*len(features))
	for i, feature := range features {
		h := hashOf(feature)
		at := h >> t.shift
		for t.slots[at] != 0 {
			at = (at + 1) & (1<<bits - 1)
		}
		t.slots[at] = uint32(h)<<16 | uint32(i+1) //nolint:gosec // a part of the hash, and fewer than 65,536 features
		for l, digit := range costs[i] {
			cost := uint64(digit - '0')
			if digit >= 'a' {
				cost = uint64(digit-'a') + 10
			}
			t.rows[i*t.words+l/lanes] |= cost << (8 * (l % lanes))
		}
	}
}

// hashOf is the hash of a feature given as text.
func hashOf(feature string) uint64 {
	var key uint64
	for _, r := range feature {
		key = key<<16 | uint64(r)&0xFFFF
	}
	return hash(key)
}

// hash spreads a key. Its high bits say where a feature is, and its low bits tell it from others.
func hash(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	key ^= key >> 29
	return key * 0xBF58476D1CE4E5B9
}

// row returns the number of a feature's row, or -1.
func (t *table) row(h uint64) int {
	mask := uint64(len(t.slots) - 1)
	for at := h >> t.shift; ; at = (at + 1) & mask {
		switch slot := t.slots[at]; {
		case slot == 0:
			return -1
		case slot>>16 == uint32(h)&0xFFFF: //nolint:gosec // a part of it
			return int(slot&0xFFFF) - 1
		}
	}
}

// sums are the costs of features in the languages of a table.
type sums struct {
	// even and odd have the costs of every second language, four of them in 16 bits each.
	even, odd [maxLanguages / lanes]uint64
	hits, all int
}

const everySecond = 0x00FF00FF00FF00FF

// add adds the costs of the features of a word. They are runs of three and of four letters, with the
// ends of the word, and each letter of a word in Han.
func (t *table) add(s *sums, w *word) {
	if w.script == han {
		for _, r := range w.letters[1 : w.n-1] {
			t.feature(s, hash(uint64(r)))
		}
		return
	}
	var key uint64
	for i, r := range w.letters[:w.n] {
		key = key<<16 | uint64(r)
		if i >= 2 {
			t.feature(s, hash(key&(1<<48-1)))
		}
		if i >= 3 {
			t.feature(s, hash(key))
		}
	}
}

func (t *table) feature(s *sums, h uint64) {
	s.all++
	i := t.row(h)
	if i < 0 {
		return
	}
	s.hits++
	for j, costs := range t.rows[i*t.words : (i+1)*t.words] {
		s.even[j] += costs & everySecond
		s.odd[j] += costs >> 8 & everySecond
	}
}

// costs adds the sums to costs, one for each language.
func (s *sums) costs(costs []int) {
	for l := range costs {
		half := &s.even
		if l%2 == 1 {
			half = &s.odd
		}
		costs[l] += int(half[l/lanes] >> (16 * (l % lanes / 2)) & 0xFFFF)
	}
}
