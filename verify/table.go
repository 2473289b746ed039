package verify

import "github.com/weftcrawl/weft/urls"

type fingerprint = [16]byte

// place is where a URL is.
type place uint8

const (
	// onTheWay: it was named, and a stage before schedule has not read it yet.
	onTheWay place = iota + 1
	// heldBack: dedupe parked it in a trap.
	heldBack
	// givenUp: another URL of its site stands for it.
	givenUp
	queued
	retrying
	out
	settled
)

func (p place) String() string {
	return [...]string{"unknown", "on its way", "held back", "given up", "in a queue", "among the retries", "out", "settled"}[p]
}

// admitted tells whether schedule knows it.
func (p place) admitted() bool { return p >= queued }

// entry is what is known of a URL, in 32 bytes.
type entry struct {
	// at is the offset in scheduled of its admission.
	at        int64
	partition int32
	// delayMS is the smallest delay of a visit that carried it.
	delayMS uint32
	// root is the number of its scope root.
	root  uint32
	place place
	// attempts that were made, and how often it was released at all.
	attempts, releases uint8
	// round of its last release.
	round uint8
	marks marks
}

type marks uint8

const (
	inDeduped marks = 1 << iota
	// answered: an attempt brought a page.
	answered
	// paged: parsed has its page.
	paged
	// unreported: a visit came back by its lease, and perhaps not all that it
	// did was reported.
	unreported
	// inTrap: deduped holds it back, and nothing has lifted that.
	inTrap
	// standsAside: deduped gives it up, and nothing has brought it back.
	standsAside
)

func (e entry) is(m marks) bool { return e.marks&m != 0 }

// table holds every URL by its fingerprint.
type table struct {
	entries map[fingerprint]entry
	// roots are the scope roots; few, since seeds set them.
	roots []string
	ids   map[string]uint32
}

func newTable() *table {
	return &table{entries: map[fingerprint]entry{}, roots: []string{""}, ids: map[string]uint32{"": 0}}
}

// root numbers a scope root.
func (t *table) root(text string) uint32 {
	id, ok := t.ids[text]
	if !ok {
		id = uint32(len(t.roots))
		t.roots, t.ids[text] = append(t.roots, text), id
	}
	return id
}

func (t *table) get(url string) (fingerprint, entry) {
	print := urls.Fingerprint(url)
	return print, t.entries[print]
}

// mention books that a URL is on its way, if nothing more is known.
func (t *table) mention(print fingerprint) {
	if _, ok := t.entries[print]; !ok {
		t.entries[print] = entry{place: onTheWay}
	}
}

func increment(n uint8) uint8 { return min(n, 254) + 1 }
