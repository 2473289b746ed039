package language

// Guess is what a text shows about its language.
type Guess struct {
	// Language is the language (BCP 47); empty: the text is too short, is in several languages, or
	// in one that is not known.
	Language string
	// Script is the script of most letters (ISO 15924); empty: there are none.
	Script string
	// Confidence is between 0 and 1: how likely the language is, in view of the others that the script
	// has. It is 0 if there is none.
	Confidence float64
}

const (
	// leastLetters is the least number of letters of a text whose language is told by its words, and
	// leastSigns of one whose script decides alone.
	leastLetters = 20
	leastSigns   = 4
	// leastConfidence is the confidence below which no language is told.
	leastConfidence = 0.5
)

// piece is what a part of the text is.
type piece struct {
	letters int
	script  script
	score
}

// Detect tells the language of a text from a sample of some hundred letters.
func Detect(text string) Guess {
	d := detector{reader: reader{table: letters()}, tables: tables(), enough: enoughLetters}
	d.sample(text)
	d.end()
	if !d.sure() {
		d.judge()
	}
	return d.guess()
}

const maxPieces = 16

type detector struct {
	reader reader
	tables *[scripts]*table
	total  int // letters
	enough int // letters, after which the next verdict is made
	pieces [maxPieces]piece
	n      int

	// The piece that is being read: its letters, the sums of its features by script, and the last features.
	letters int
	sums    [lastTable + 1]sums
	keys    keys

	verdict verdict
}

// take reads about so many letters of a line, takes them from the line, and tells whether more are wanted.
func (d *detector) take(line *string, letters int) (more bool) {
	r := &d.reader
	room := min(letters, sampleLetters-d.total)
	r.start(*line, room)
	for r.next() {
		if d.tables[r.word.script] == nil {
			continue
		}
		if !d.keys.hasRoom(&r.word) {
			d.look()
			d.keys.script = r.word.script
		}
		d.keys.add(&r.word)
	}
	*line = r.line[r.at:]
	read := room - r.room
	d.total += read
	if d.letters += read; d.letters >= pieceLetters {
		d.end()
		if d.total >= d.enough {
			if d.judge(); d.sure() {
				return false
			}
			d.enough *= 2
		}
	}
	return d.total < sampleLetters && d.n < maxPieces
}

// look looks the last features up.
func (d *detector) look() {
	if d.keys.n > 0 {
		d.tables[d.keys.script].add(&d.sums[d.keys.script], d.keys.all[:d.keys.n])
		d.keys.n = 0
	}
}

// end ends a piece.
func (d *detector) end() {
	if d.letters == 0 || d.n == maxPieces {
		return
	}
	d.look()
	p := &d.pieces[d.n]
	p.letters, p.script = d.letters, mainScript(&d.reader.counts)
	if p.script <= lastTable {
		d.sums[p.script].carry()
		p.score = d.sums[p.script].score
	}
	clear(d.sums[:])
	d.n++
	d.letters = 0
	clear(d.reader.counts[:])
}

// mainScript is the script of a text with such counts of letters. Texts in other scripts have many
// words in Latin letters, and not the other way round. A character of Han or Hangul is as much as
// several letters.
func mainScript(counts *[scripts]int) script {
	c := *counts
	if c[kana] > 0 && 8*c[kana] >= c[han] {
		c[kana], c[han] = c[kana]+c[han], 0
	}
	best, letters := noScript, 0
	for s := range scripts {
		n := c[s]
		switch s {
		case latin:
		case han, kana, hangul:
			n *= 6
		default:
			n *= 2
		}
		if n > letters {
			best, letters = s, n
		}
	}
	return best
}
