package language

// A feature is a part of a word, and its key has the letters, in 16 bits each. The letters of a word in
// Han are features. In other scripts a feature ends at each letter from the third one on, and at the end
// of the word. Features of three letters alternate with features of four: more of them would cost more
// time and say the same again.
const (
	letterBits = 16
	threeMask  = 1<<(3*letterBits) - 1
)

// keys are keys of features of one script.
type keys struct {
	all    [maxKeys]uint64
	n      int
	script script
}

const maxKeys = 4 * maxWord

// hasRoom tells whether the features of a word can be added.
func (k *keys) hasRoom(w *word) bool { return k.script == w.script && k.n+w.n <= maxKeys }

// add adds the features of a word.
func (k *keys) add(w *word) {
	to := k.all[k.n:]
	if w.script == han {
		for i, c := range w.letters[1 : w.n-1] {
			to[i] = uint64(c)
		}
	} else {
		key := uint64(w.letters[0])<<letterBits | uint64(w.letters[1])
		for i, c := range w.letters[2:w.n] {
			key = key<<letterBits | uint64(c)
			if to[i] = key; i%2 == 0 {
				to[i] &= threeMask
			}
		}
	}
	k.n += w.n - 2
}

// keyOf is the key of a feature.
func keyOf(letters string) (key uint64) {
	for _, c := range letters {
		key = key<<letterBits | uint64(c)&(1<<letterBits-1)
	}
	return key
}

// lettersOf are the letters of a feature.
func lettersOf(key uint64) string {
	var letters []rune
	for shift := 3 * letterBits; shift >= 0; shift -= letterBits {
		if c := rune(key >> shift & (1<<letterBits - 1)); c != 0 {
			letters = append(letters, c)
		}
	}
	return string(letters)
}

// Features gives the features of the words of a line to take, with the code of their script.
// bench/languages counts them.
func Features(line string, take func(script, feature string)) {
	r := reader{table: letters()}
	for r.start(line, len(line)); r.next(); {
		var k keys
		k.add(&r.word)
		for _, key := range k.all[:k.n] {
			take(scriptFacts[r.word.script].code, lettersOf(key))
		}
	}
}
