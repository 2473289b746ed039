package duplicates

import (
	"encoding/binary"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/similar"
)

// Page is one page as its record in parsed has it.
type Page struct {
	ID, URL string
	// Domain is the registrable domain of URL.
	Domain string
	Print  similar.Print
	// Verdict is what the page was found to be.
	Verdict Verdict
}

// Verdict names the page that another is a duplicate of. The zero value: of none.
type Verdict struct {
	ID, URL string
	// Distance is 0 if the texts are the same, else 1 to similar.MaxDistance.
	Distance int
	// Own: the page is of the same registrable domain.
	Own bool
}

// Duplicate tells whether the page is one.
func (v Verdict) Duplicate() bool { return v.ID != "" }

// entry is what the index keeps of a page.
type entry struct {
	id, url string
	domain  uint64
	print   similar.Print
	verdict Verdict
}

func entryOf(p Page) entry {
	return entry{id: p.ID, url: p.URL, domain: xxh3.HashString(p.Domain), print: p.Print, verdict: p.Verdict}
}

// of is the verdict on a page at that distance from e.
func (e entry) of(page entry, distance int) Verdict {
	return Verdict{ID: e.id, URL: e.url, Distance: distance, Own: e.domain == page.domain}
}

// representative tells whether pages can be nearly the same as e.
func (e entry) representative() bool {
	return !e.print.Min.Empty() && !(e.verdict.Duplicate() && e.verdict.Own)
}

// follower tells whether pages with the very SimHash of e are nearly the same as e,
// which is nearly the same as a representative that is further away from them.
func (e entry) follower() bool {
	return e.verdict.Duplicate() && e.verdict.Own && e.verdict.Distance > 1
}

// Flags of a stored entry.
const (
	isDuplicate = 1 << iota
	ofOwnDomain
	hasMinHash
)

// append appends the value under which e is stored; its hash is in the key.
func (e entry) append(dst []byte) []byte {
	var flags byte
	if e.verdict.Duplicate() {
		flags |= isDuplicate
	}
	if e.verdict.Own {
		flags |= ofOwnDomain
	}
	if !e.print.Min.Empty() {
		flags |= hasMinHash
	}
	dst = append(dst, flags, byte(e.verdict.Distance))
	dst = binary.BigEndian.AppendUint64(dst, e.print.Sim)
	dst = binary.BigEndian.AppendUint64(dst, e.domain)
	if !e.print.Min.Empty() {
		dst = e.print.Min.Append(dst)
	}
	dst = appendText(appendText(dst, e.id), e.url)
	if e.verdict.Duplicate() {
		dst = appendText(appendText(dst, e.verdict.ID), e.verdict.URL)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

var errEntry = errors.New("entry of the index of duplicates cannot be read")

// readEntry is the inverse of append.
func readEntry(hash similar.Hash, value []byte) (entry, error) {
	e := entry{print: similar.Print{Hash: hash}}
	if len(value) < 18 {
		return e, errEntry
	}
	flags := value[0]
	e.verdict.Distance, e.verdict.Own = int(value[1]), flags&ofOwnDomain != 0
	e.print.Sim = binary.BigEndian.Uint64(value[2:])
	e.domain = binary.BigEndian.Uint64(value[10:])
	value = value[18:]
	if flags&hasMinHash != 0 {
		if len(value) < similar.MinHashBytes {
			return e, errEntry
		}
		e.print.Min, value = similar.ReadMinHash(value), value[similar.MinHashBytes:]
	}
	texts := []*string{&e.id, &e.url}
	if flags&isDuplicate != 0 {
		texts = append(texts, &e.verdict.ID, &e.verdict.URL)
	}
	for _, s := range texts {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return e, errEntry
		}
		value = value[size:]
		*s, value = string(value[:n]), value[n:]
	}
	if len(value) > 0 || e.print.Min.Empty() != (flags&hasMinHash == 0) || e.verdict.Duplicate() != (flags&isDuplicate != 0) || !e.verdict.Duplicate() && e.verdict != (Verdict{}) {
		return e, errEntry
	}
	return e, nil
}
