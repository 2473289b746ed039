package verify

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/urls"
)

type fingerprint = [16]byte

// place is where a URL is.
type place uint8

const (
	// onTheWay: a record names it, and a stage before schedule has not read it yet.
	onTheWay place = iota + 1
	// heldBack: dedupe parked it in a trap.
	heldBack
	// merged into another URL of its site.
	merged
	queued
	retrying
	out
	settled
)

func (p place) String() string {
	return [...]string{"unknown", "on its way", "held back", "given up", "in a queue", "among the retries", "out", "settled"}[p]
}

// admitted reports whether schedule knows it.
func (p place) admitted() bool { return p >= queued }

// entry is what is known of a URL.
type entry struct {
	// at is the offset in scheduled of its admission.
	at        int64
	partition int32
	// delayMS is the smallest delay of a visit that carried it.
	delayMS uint32
	place   place
	// attempts that were made, and the number of its releases.
	attempts, releases uint8
	// round of its last release.
	round uint8
	marks marks
	// root is its scope root.
	root string
}

type marks uint16

const (
	inDeduped marks = 1 << iota
	// answered: an attempt brought a page.
	answered
	// paged: parsed has its page.
	paged
	// unreported: the lease of a visit ran out, and some of its outcomes may not have
	// been reported.
	unreported
	// inTrap: deduped holds it back, and no event has lifted the trap.
	inTrap
	// isMerged: deduped merges it into another URL, and no event has brought it back.
	isMerged
	// unparsed: parse had not committed an exchange of it before the ledgers were
	// read; stillUnparsed: nor after that.
	unparsed
	stillUnparsed
	// unusable: parse rejected an exchange of it.
	unusable
	// listing: an attempt brought what was named as a sitemap. It may be a page.
	listing
)

func (e entry) is(m marks) bool { return e.marks&m != 0 }

// fixedBytes is how long an encoded entry is without its root.
const fixedBytes = 8 + 4 + 4 + 4 + 2

func (e entry) encode() []byte {
	b := make([]byte, 0, fixedBytes+len(e.root))
	b = binary.BigEndian.AppendUint64(b, uint64(e.at))
	b = binary.BigEndian.AppendUint32(b, uint32(e.partition))
	b = binary.BigEndian.AppendUint32(b, e.delayMS)
	b = append(b, byte(e.place), e.attempts, e.releases, e.round)
	b = binary.BigEndian.AppendUint16(b, uint16(e.marks))
	return append(b, e.root...)
}

// decodeEntry is the zero entry if there are no bytes.
func decodeEntry(b []byte) entry {
	if len(b) < fixedBytes {
		return entry{}
	}
	return entry{
		at: int64(binary.BigEndian.Uint64(b)), partition: int32(binary.BigEndian.Uint32(b[8:])), delayMS: binary.BigEndian.Uint32(b[12:]),
		place: place(b[16]), attempts: b[17], releases: b[18], round: b[19],
		marks: marks(binary.BigEndian.Uint16(b[20:])), root: string(b[fixedBytes:]),
	}
}

// table holds every URL by its fingerprint, and what records name, on disk.
type table struct {
	store *scratch.Store
	// recent entries are in memory, maxRecent at most; changed entries are newer than the entries
	// in the store.
	recent    map[fingerprint]recent
	maxRecent int
	// attempts is how many requests to addresses were noted.
	attempts uint32
}

type recent struct {
	entry
	changed bool
}

const (
	// maxRecent entries take about 35 MB.
	maxRecent = 320 << 10
	// tableBytes is the size of a table of the store in memory.
	tableBytes = 8 << 20
)

// openTable makes an empty table. Close it.
func openTable() (*table, error) {
	store, err := scratch.Open("weft-verify", tableBytes)
	if err != nil {
		return nil, err
	}
	return &table{store: store, recent: map[fingerprint]recent{}, maxRecent: maxRecent}, nil
}

func entryKey(print fingerprint) []byte { return append([]byte{'e'}, print[:]...) }

// find returns the entry of a URL; the zero entry if there is none.
func (t *table) find(print fingerprint) entry {
	r, ok := t.recent[print]
	if !ok {
		r.entry = decodeEntry(t.store.Get(entryKey(print)))
		t.keep(print, r)
	}
	return r.entry
}

func (t *table) put(print fingerprint, e entry) { t.keep(print, recent{e, true}) }

func (t *table) keep(print fingerprint, r recent) {
	if len(t.recent) >= t.maxRecent {
		t.flush()
	}
	t.recent[print] = r
}

// flush empties recent into the store.
func (t *table) flush() {
	for print, r := range t.recent {
		if r.changed {
			t.store.Set(entryKey(print), r.encode())
		}
	}
	clear(t.recent)
}

// each calls visit with all entries.
func (t *table) each(visit func(fingerprint, entry)) {
	t.flush()
	t.store.Scan([]byte{'e'}, []byte{'e' + 1}, func(key, value []byte) bool {
		visit(fingerprint(key[1:]), decodeEntry(value))
		return true
	})
}

func (t *table) get(url string) (fingerprint, entry) {
	print := urls.Fingerprint(url)
	return print, t.find(print)
}

// onItsWay notes that a URL is on its way, if nothing more is known.
func (t *table) onItsWay(print fingerprint) {
	if e := t.find(print); e.place == 0 {
		e.place = onTheWay
		t.put(print, e)
	}
}

// note adds a mark to the entry of a URL, which may be new.
func (t *table) note(print fingerprint, m marks) {
	e := t.find(print)
	e.marks |= m
	t.put(print, e)
}

func increment(n uint8) uint8 { return min(n, 254) + 1 }

// mention is a URL that a record of seeds, discovered or normalized names.
type mention struct {
	print     fingerprint
	in        source
	partition int32
	offset    int64
}

// source is a topic of mentions.
type source uint8

const (
	inNormalized source = iota
	inSeeds
	inDiscovered
)

// mention notes that a record names a URL, which is its nth.
func (t *table) mention(m mention, nth int) {
	key := binary.BigEndian.AppendUint32([]byte{'m', byte(m.in)}, uint32(m.partition))
	key = binary.BigEndian.AppendUint64(key, uint64(m.offset))
	t.store.Set(binary.BigEndian.AppendUint32(key, uint32(nth)), m.print[:])
}

// eachMention calls visit with all mentions, in the order of the sources and offsets.
func (t *table) eachMention(visit func(mention)) {
	t.store.Scan([]byte{'m'}, []byte{'m' + 1}, func(key, value []byte) bool {
		visit(mention{
			fingerprint(value), source(key[1]), int32(binary.BigEndian.Uint32(key[2:])), int64(binary.BigEndian.Uint64(key[6:])),
		})
		return true
	})
}
