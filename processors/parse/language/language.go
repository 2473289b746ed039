package language

import "math"

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
	sums    sums
}

// Detect tells the language of a text from a sample of some hundred letters.
func Detect(text string) Guess {
	d := detector{reader: reader{table: letters()}, tables: tables()}
	sampled(text, d.take)
	d.end()
	return d.guess()
}

const maxPieces = 16

type detector struct {
	reader reader
	tables *[scripts]*table
	total  int
	pieces [maxPieces]piece
	n      int

	// The piece that is being read.
	letters int
	counts  [scripts]int
	sums    [lastTable + 1]sums
}

func (d *detector) take(line string, quota int) bool {
	d.reader.words(line, min(quota, sampleLetters-d.total), &d.counts, d.word)
	letters := 0
	for _, n := range d.counts {
		letters += n
	}
	d.total += letters - d.letters
	if d.letters = letters; d.letters >= pieceLetters {
		d.end()
	}
	return d.total < sampleLetters && d.n < maxPieces
}

func (d *detector) word(w *word) {
	if t := d.tables[min(w.script, otherScript)]; t != nil {
		t.add(&d.sums[w.script], w)
	}
}

// end ends a piece.
func (d *detector) end() {
	if d.letters == 0 || d.n == maxPieces {
		return
	}
	p := &d.pieces[d.n]
	p.letters, p.script = d.letters, mainScript(&d.counts)
	if p.script <= lastTable {
		p.sums = d.sums[p.script]
	}
	d.n++
	d.letters = 0
	clear(d.counts[:])
	clear(d.sums[:])
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

func (d *detector) guess() Guess {
	var byScript [scripts]int
	for i := range d.pieces[:d.n] {
		byScript[d.pieces[i].script] += d.pieces[i].letters
	}
	s := noScript
	for other, n := range byScript {
		if n > byScript[s] {
			s = script(other) //nolint:gosec // a few scripts
		}
	}
	if s == noScript {
		return Guess{}
	}
	g := Guess{Script: scriptFacts[s].code}
	share := float64(byScript[s]) / float64(d.total)
	t := d.tables[s]
	switch {
	case t == nil:
		if byScript[s] >= leastSigns && share >= leastShare {
			g.Language, g.Confidence = scriptFacts[s].language, share
		}
	case s == han, byScript[s] >= leastLetters:
		d.ofTable(&g, t, s, share)
	}
	if g.Language == "" || g.Confidence < leastConfidence {
		g.Language, g.Confidence = "", 0
	}
	return g
}

const (
	// dependence is by how much the logarithms of features are divided: they overlap, and so they
	// are not independent.
	dependence = 4
	// leastShare is the share of the letters of a text that must be in its script, and of its pieces
	// that must be in its language.
	leastShare = 0.6
	// doubtful is the difference in nats up to which a piece may also be in another language than
	// the one that it is most like.
	doubtful = 12
)

// ofTable guesses by the features of words.
func (d *detector) ofTable(g *Guess, t *table, s script, share float64) {
	var all [maxLanguages]int
	costs := all[:copy(all[:], t.rare)]
	hits, features := 0, 0
	for i := range d.pieces[:d.n] {
		if p := &d.pieces[i]; p.script == s {
			p.sums.costs(costs)
			hits, features = hits+p.sums.hits, features+p.sums.all
		}
	}
	if hits == 0 || s <= cyrillic && float64(hits) < leastHits*float64(features) {
		return
	}
	best := least(costs)
	if float64(costs[best])*Unit > mostCost*float64(hits) {
		return
	}
	agree := 0
	for i := range d.pieces[:d.n] {
		p := &d.pieces[i]
		if p.script != s {
			continue
		}
		var all [maxLanguages]int
		own := all[:len(t.languages)]
		p.sums.costs(own)
		if float64(own[best]-own[least(own)])*Unit <= doubtful {
			agree += p.letters
		}
	}
	if share *= float64(agree) / (share * float64(d.total)); share < leastShare {
		return
	}
	others := 0.0
	for l, cost := range costs {
		if l != best {
			others += math.Exp(-float64(cost-costs[best]) * Unit / dependence)
		}
	}
	g.Language = t.languages[best]
	g.Confidence = share / (1 + others)
	if s == han {
		g.Script = "Han" + g.Language[len("zh-Han"):] // Hans or Hant
		g.Language = "zh"
	}
}

const (
	// leastHits is the least share of the features of a text that a large table must have, and mostCost
	// the highest cost of one, in nats: beyond them a text is in a language that is not known.
	leastHits = 0.25
	mostCost  = 2.8
)

func least(costs []int) int {
	best := 0
	for l, cost := range costs {
		if cost < costs[best] {
			best = l
		}
	}
	return best
}
