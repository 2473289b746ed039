package traps

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// pattern is what is known of a template on a host.
type pattern struct {
	// admitted counts URLs that were let into the crawl.
	admitted uint64
	// pages counts those of the last pages that named new URLs, again those of
	// them that showed what others had shown.
	pages, again uint8
	// last are the fingerprints of the last of the pages, originals those of the
	// last pages of which pages were copies, the oldest first.
	last      [2]uint64
	originals []uint64
	// reason is set while content makes it a trap, and URLs were parked. Since it is
	// one, or looks like one, spared counts the URLs that were admitted, and alike
	// the pages that showed what others had shown.
	reason        Reason
	spared, alike uint64
	// exempt: people lifted it.
	exempt bool
	// The parked URLs have the numbers from first to next, without next.
	first, next uint64
}

// window is how many pages are remembered of a template: when there are so many,
// their numbers are halved, so that late ones count for more. A calendar may have
// thousands of months with something in them before those without.
const window = 32

// looksSame is how many pages make a template look like a trap, whatever options
// ask for: a fold knows none.
const looksSame = 12

// mostSpared bounds the URLs of a trap that are admitted because pages name them
// that show something new. One event may go beyond it. It holds for what goes on
// being a trap: for each mostPerPage of them one has to show what others had shown.
const (
	mostSpared  = 1000
	mostPerPage = 16
)

// mostOriginals is how many pages are remembered of which there are copies among
// the pages of a template. The first copy of one says nothing where URLs look like
// nothing that servers make without end: trees of pages that are not translated, or
// the same in two versions, are copies of others. Copies without end are of few pages.
const mostOriginals = 16

// show books a page that named new URLs, once: one that names many has several
// events, one behind the other or, where two pages are read side by side, in turn.
// A trap most of whose pages show something new by now is none: it was an honest
// template in which a trap had been.
func (p *pattern) show(page string, shows weftpb.Showing, original uint64) {
	print := xxh3.HashString(page)
	if print == p.last[0] || print == p.last[1] {
		return
	}
	p.last = [2]uint64{print, p.last[0]}
	again := shows == weftpb.Showing_SHOWING_AGAIN
	if shows == weftpb.Showing_SHOWING_COPY {
		if again = slices.Contains(p.originals, original); !again {
			p.originals = append(p.originals[max(0, len(p.originals)+1-mostOriginals):], original)
			return
		}
	}
	p.pages++
	if again {
		p.again++
		if p.suspect() {
			p.alike++
		}
	}
	if p.pages == window {
		p.pages, p.again = p.pages/2, p.again/2
	}
	if 2*p.again < p.pages {
		p.reason, p.spared, p.alike = "", 0, 0
	}
}

// admit books a URL that was let into the crawl.
func (p *pattern) admit() {
	p.admitted++
	if p.suspect() {
		p.spared++
	}
}

// suspect tells whether it is a trap, or looks like one.
func (p *pattern) suspect() bool { return p.reason != "" || p.same(looksSame) }

// spent tells whether no more is admitted of a trap, whatever names it.
func (p *pattern) spent() bool {
	return p.spared >= mostSpared && p.alike*mostPerPage >= p.spared
}

// same tells whether nearly all of the pages, and so many at least, showed what
// others had shown: seven of eight.
func (p *pattern) same(evidence int) bool {
	return int(p.again) >= evidence && 8*int(p.again) >= 7*int(p.pages)
}

// The flags of a pattern's record.
const isExempt = 1

func (p *pattern) encode(dst []byte) []byte {
	flags := byte(0)
	if p.exempt {
		flags |= isExempt
	}
	dst = append(dst, flags, byte(slices.Index(reasons[:], p.reason)), p.pages, p.again)
	for _, print := range p.last {
		dst = binary.BigEndian.AppendUint64(dst, print)
	}
	for _, n := range []uint64{p.admitted, p.first, p.next, p.spared, p.alike} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, original := range p.originals {
		dst = binary.BigEndian.AppendUint64(dst, original)
	}
	return dst
}

// decodePattern is the inverse of encode; nil is no record. The store is sound
// or says so itself (ledger rule 4), so that a record cannot be cut.
func decodePattern(b []byte) *pattern {
	if len(b) < 20 || int(b[1]) >= len(reasons) {
		return nil
	}
	p := &pattern{exempt: b[0]&isExempt != 0, reason: reasons[b[1]], pages: b[2], again: b[3]}
	p.last = [2]uint64{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
	b = b[20:]
	for _, field := range []*uint64{&p.admitted, &p.first, &p.next, &p.spared, &p.alike} {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return nil
		}
		*field, b = n, b[size:]
	}
	for ; len(b) >= 8; b = b[8:] {
		p.originals = append(p.originals, binary.BigEndian.Uint64(b))
	}
	return p
}

// census is what is known of a registrable domain.
type census struct {
	// admitted counts URLs that were let into the crawl.
	admitted uint64
	// patterns and hosts count those that are told apart.
	patterns, hosts uint64
}

func (c census) encode(dst []byte) []byte {
	for _, n := range []uint64{c.admitted, c.patterns, c.hosts} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

func decodeCensus(b []byte) (c census) {
	for _, field := range []*uint64{&c.admitted, &c.patterns, &c.hosts} {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return census{}
		}
		*field, b = n, b[size:]
	}
	return c
}
