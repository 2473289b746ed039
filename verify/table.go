package verify

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/urls"
)

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

// entry is what is known of a URL.
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

type marks uint16

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
	// unparsed: parse had not committed an exchange of it before the ledgers were
	// read; stillUnparsed: nor when they had been.
	unparsed
	stillUnparsed
	// unusable: parse rejected an exchange of it.
	unusable
)

func (e entry) is(m marks) bool { return e.marks&m != 0 }

// entryBytes is how long an encoded entry is.
const entryBytes = 8 + 4 + 4 + 4 + 4 + 2

func (e entry) encode(b []byte) {
	binary.BigEndian.PutUint64(b, uint64(e.at))
	binary.BigEndian.PutUint32(b[8:], uint32(e.partition))
	binary.BigEndian.PutUint32(b[12:], e.delayMS)
	binary.BigEndian.PutUint32(b[16:], e.root)
	b[20], b[21], b[22], b[23] = byte(e.place), e.attempts, e.releases, e.round
	binary.BigEndian.PutUint16(b[24:], uint16(e.marks))
}

func decodeEntry(b []byte) entry {
	return entry{
		at: int64(binary.BigEndian.Uint64(b)), partition: int32(binary.BigEndian.Uint32(b[8:])), delayMS: binary.BigEndian.Uint32(b[12:]),
		root: binary.BigEndian.Uint32(b[16:]), place: place(b[20]), attempts: b[21], releases: b[22], round: b[23],
		marks: marks(binary.BigEndian.Uint16(b[24:])),
	}
}

// table holds every URL by its fingerprint, on disk.
type table struct {
	*scratch
	// roots are the scope roots; few, since seeds set them.
	roots []string
	ids   map[string]uint32
}

// openTable makes an empty table. Close it.
func openTable() (*table, error) {
	scratch, err := openScratch()
	if err != nil {
		return nil, err
	}
	return &table{scratch: scratch, roots: []string{""}, ids: map[string]uint32{"": 0}}, nil
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
	return print, t.find(print)
}

// mention books that a URL is on its way, if nothing more is known.
func (t *table) mention(print fingerprint) {
	if e := t.find(print); e.place == 0 {
		e.place = onTheWay
		t.put(print, e)
	}
}

// note adds a mark to what is known of a URL, be it nothing.
func (t *table) note(print fingerprint, m marks) {
	e := t.find(print)
	e.marks |= m
	t.put(print, e)
}

func increment(n uint8) uint8 { return min(n, 254) + 1 }
