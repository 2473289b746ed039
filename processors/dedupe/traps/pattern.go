package traps

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// pattern is what is known of a template on a host.
type pattern struct {
	// admitted counts URLs that were let into the crawl.
	admitted uint64
	// pages counts the last pages that named new URLs. again counts the pages among them that
	// showed what others had shown.
	pages, again uint8
	// last are the fingerprints of the last two pages. originals are the fingerprints of the last
	// pages that had copies, the oldest first.
	last      [2]uint64
	originals []uint64
	// reason is set while content makes it a trap, and URLs were parked. While it is a
	// trap, or looks like one, spared counts the URLs that are admitted, and alike the
	// pages that show what others had shown.
	reason        Reason
	spared, alike uint64
	// exempt: people lifted it.
	exempt bool
	// The parked URLs have the numbers from first to next, without next.
	first, next uint64
}

// window is how many pages of a template are counted. Then both counts are halved, so
// that later pages count more. A calendar may have thousands of months with events
// before the empty ones.
const window = 32

// looksSame is how many pages make a template look like a trap, whatever the options
// say, because a fold does not know them.
const looksSame = 12

// mostSpared bounds the URLs of a trap that are admitted because the pages that name
// them show something new. One event may pass the bound. The bound counts only if the
// template goes on being a trap: for each mostPerPage of these URLs, one page must show
// what others had shown.
const (
	mostSpared  = 1000
	mostPerPage = 16
)

// mostOriginals bounds the originals of a template. The first copy of a page says nothing
// if the URLs do not look like those of a trap: there are honest copies, such as trees of
// pages that are not translated, or are the same in two versions. Endless copies are
// copies of few pages.
const mostOriginals = 16

// show counts a page that named new URLs, once. A page that names many URLs has several
// events, and the events of two pages may alternate. If most of the last pages show
// something new, the template is not a trap any more: it is an honest template that
// contained a trap.
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

// admit counts a URL that was let into the crawl.
func (p *pattern) admit() {
	p.admitted++
	if p.suspect() {
		p.spared++
	}
}

// suspect tells whether it is a trap, or looks like one.
func (p *pattern) suspect() bool { return p.reason != "" || p.same(looksSame) }

// spent tells whether no more URLs of a trap are admitted, whatever page names them.
func (p *pattern) spent() bool {
	return p.spared >= mostSpared && p.alike*mostPerPage >= p.spared
}

// same tells whether seven of eight pages, and at least evidence of them, showed what
// others had shown.
func (p *pattern) same(evidence int) bool {
	return int(p.again) >= evidence && 8*int(p.again) >= 7*int(p.pages)
}

const isExempt = 1

func (p *pattern) fields(f *kv.Fields) {
	flags, code := uint8(0), uint8(slices.Index(reasons[:], p.reason))
	if p.exempt {
		flags |= isExempt
	}
	f.Byte(&flags)
	f.Byte(&code)
	if f.Require(int(code) < len(reasons)); int(code) < len(reasons) {
		p.exempt, p.reason = flags&isExempt != 0, reasons[code]
	}
	f.Byte(&p.pages)
	f.Byte(&p.again)
	f.Uint64(&p.last[0])
	f.Uint64(&p.last[1])
	for _, n := range []*uint64{&p.admitted, &p.first, &p.next, &p.spared, &p.alike} {
		f.Uint(n)
	}
	kv.Rest(f, &p.originals, f.Uint64)
}

func (p *pattern) encode() []byte { return kv.Encode(32+8*len(p.originals), p.fields) }

// decodePattern is the inverse of encode; nil: there is no record. The store is sound or
// has an error (ledger rule 4), so a record cannot be cut.
func decodePattern(b []byte) *pattern {
	p := new(pattern)
	if kv.Decode(b, p.fields) != nil {
		return nil
	}
	return p
}

// census is what is known of a registrable domain.
type census struct {
	// admitted counts URLs that were let into the crawl.
	admitted uint64
	// patterns and hosts count those that have records.
	patterns, hosts uint64
}

func (c *census) fields(f *kv.Fields) {
	f.Uint(&c.admitted)
	f.Uint(&c.patterns)
	f.Uint(&c.hosts)
}

func (c census) encode() []byte { return kv.Encode(8, c.fields) }

func decodeCensus(b []byte) *census {
	c := new(census)
	if kv.Decode(b, c.fields) != nil {
		return new(census)
	}
	return c
}
