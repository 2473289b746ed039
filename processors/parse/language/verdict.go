package language

import "math"

// verdict is what the pieces of a text show together.
type verdict struct {
	script script
	// share is the share of the letters that are in the script and, if there is a table, in pieces that
	// may be in the language.
	share float64
	table *table // nil: the script decides alone
	// best is the language of the table, -1: there is none. The other languages cost margin more, or more
	// than that.
	best, margin int
	costs        [maxLanguages]int
}

const (
	// dependence is by how much the logarithms of features are divided: they overlap, and so they
	// are not independent.
	dependence = 2
	// leastShare is the share of the letters of a text that must be in its script, and of its pieces
	// that must be in its language.
	leastShare = 0.6
	// doubtful is the difference in nats up to which a piece may also be in another language than
	// the one that it is most like.
	doubtful = 8
	// leastHits is the least share of the features of a text that a large table must have, and mostCost
	// the highest cost of one, in nats: beyond them a text is in a language that is not known.
	leastHits = 0.25
	mostCost  = 2.8
	// enoughLetters is the number of letters after which the rest of the sample is not read if the
	// verdict is sure. It is sure if the other languages cost sureMargin nats more.
	enoughLetters = 80
	sureMargin    = 20
)

// sure tells whether all that was read is in one language without a doubt.
func (d *detector) sure() bool {
	v := &d.verdict
	return v.share == 1 && (v.table == nil || float64(v.margin)*Unit >= sureMargin)
}

// judge makes the verdict on the pieces so far.
func (d *detector) judge() {
	var letters [scripts]int
	for i := range d.pieces[:d.n] {
		letters[d.pieces[i].script] += d.pieces[i].letters
	}
	d.verdict = verdict{best: -1}
	v := &d.verdict
	for s, n := range letters {
		if n > letters[v.script] {
			v.script = script(s) //nolint:gosec // a few scripts
		}
	}
	if v.script == noScript {
		return
	}
	v.share = float64(letters[v.script]) / float64(d.total)
	if v.table = d.tables[v.script]; v.table != nil {
		d.weigh()
	}
}

// weigh finds the language by the features of words.
func (d *detector) weigh() {
	v := &d.verdict
	costs := v.costs[:copy(v.costs[:], v.table.rare)]
	letters, hits, features := 0, 0, 0
	for i := range d.pieces[:d.n] {
		if p := &d.pieces[i]; p.script == v.script {
			p.addTo(costs)
			letters, hits, features = letters+p.letters, hits+p.hits, features+p.all
		}
	}
	best, margin := least(costs)
	switch {
	case hits == 0, v.script != han && letters < leastLetters,
		v.script <= cyrillic && float64(hits) < leastHits*float64(features),
		float64(costs[best])*Unit > mostCost*float64(hits):
		return
	}
	agree := 0
	for i := range d.pieces[:d.n] {
		p := &d.pieces[i]
		if p.script != v.script {
			continue
		}
		var all [maxLanguages]int
		own := all[:len(costs)]
		p.addTo(own)
		if first, _ := least(own); float64(own[best]-own[first])*Unit <= doubtful {
			agree += p.letters
		}
	}
	v.best, v.margin, v.share = best, margin, float64(agree)/float64(d.total)
}

// least returns the place of the least cost, and by how much the next one is higher.
func least(costs []int) (best, margin int) {
	next := math.MaxInt
	for l, cost := range costs[1:] {
		switch {
		case cost < costs[best]:
			best, next = l+1, costs[best]
		case cost < next:
			next = cost
		}
	}
	return best, next - costs[best]
}

// guess is the verdict for people.
func (d *detector) guess() Guess {
	v := &d.verdict
	if v.script == noScript {
		return Guess{}
	}
	facts := &scriptFacts[v.script]
	g := Guess{Script: facts.code}
	switch {
	case v.share < leastShare:
	case v.table == nil && d.total >= leastSigns:
		g.Language, g.Confidence = facts.language, v.share
	case v.best >= 0:
		others := 0.0
		for l, cost := range v.costs[:len(v.table.languages)] {
			if l != v.best {
				others += likelihoods[min(cost-v.costs[v.best], len(likelihoods)-1)]
			}
		}
		g.Language, g.Confidence = v.table.languages[v.best], v.share/(1+others)
		if v.script == han {
			g.Script = "Han" + g.Language[len("zh-Han"):] // Hans or Hant
			g.Language = "zh"
		}
	}
	if g.Language == "" || g.Confidence < leastConfidence {
		g.Language, g.Confidence = "", 0
	}
	return g
}

// likelihoods has how likely another language is beside the best one, by what it costs more. The last
// one stands for all higher costs.
var likelihoods = func() (t [64]float64) {
	for cost := range t {
		t[cost] = math.Exp(-float64(cost) * Unit / dependence)
	}
	return t
}()
