package variants

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/weftcrawl/weft/urls"
)

// maxPages bounds the sample of a site's pages.
const maxPages = 32

// pages is what is known of the pages of one site that are none of others. The
// zero value is nothing.
type pages struct {
	// denied are the rules of which each would take a URL that has such a page.
	denied Set
	// relative: the links of some page of the site lead elsewhere from the URL that
	// differs from its own in the final slash.
	relative bool
	// answered are the origins of the site at which a page was read.
	answered origins
	// sample is pages of the least classes, in their order: of two pages of a class
	// both are in it or none, however many the site has and whenever they come.
	sample []page
}

// page is one of the sample.
type page struct {
	// class is the hash of what all rules together make of the URL, form those that
	// were needed.
	class uint64
	form  Set
}

// folding takes URLs of which one could stand for another for the same one.
const folding = every &^ (1<<WWW | 1<<Slash)

func pageAt(u urls.URL, domain string) page {
	folded, form := Apply(folding, u, domain)
	print := urls.Fingerprint(folded.String())
	return page{binary.BigEndian.Uint64(print[:]), form}
}

// between are the rules that make one of two URLs of a class of the other; none
// of two index files, since no rule does.
func (p page) between(other page) Set {
	differ := p.form ^ other.form
	if bits.OnesCount32(uint32(differ&^(1<<firstIndex-1))) > 1 {
		return 0
	}
	return differ | differ.opposites()
}

// deny notes the rules that would take a URL, and returns those that are new.
func (p *pages) deny(u urls.URL, domain string) (fresh Set) {
	about := of(HTTPS, NoWWW, WWW, Slash, NoSlash)
	if index, ok := indexRule(u.Path()); ok {
		about |= of(index)
	}
	(about &^ p.denied).each(func(r Rule) {
		if _, used := Apply(of(r), u, domain); used != 0 {
			fresh |= of(r)
		}
	})
	p.denied |= fresh
	return fresh
}

// add takes the page at a URL into the sample, or returns the rules between it and
// another of its class.
func (p *pages) add(u urls.URL, domain string) (against Set, changed bool) {
	fresh := pageAt(u, domain)
	at, found := slices.BinarySearchFunc(p.sample, fresh, func(a, b page) int { return cmp.Compare(a.class, b.class) })
	switch {
	case found:
		return fresh.between(p.sample[at]), false
	case at == maxPages:
		return 0, false
	}
	p.sample = slices.Insert(p.sample, at, fresh)
	p.sample = p.sample[:min(len(p.sample), maxPages)]
	return 0, true
}

// isRelative is a flag above the rules that are denied. What answered is above it, at
// bits that programs of before pass over.
const (
	isRelative    = 1 << 31
	answeredShift = 32
)

// encode writes pages: a varint, and 8 bytes and a varint for each of the sample.
func (p *pages) encode() []byte {
	first := uint64(p.denied) | uint64(p.answered)<<answeredShift
	if p.relative {
		first |= isRelative
	}
	b := binary.AppendUvarint(nil, first)
	for _, s := range p.sample {
		b = binary.AppendUvarint(binary.BigEndian.AppendUint64(b, s.class), uint64(s.form))
	}
	return b
}

// decodePages is the inverse of encode, and as lenient as decode.
func decodePages(b []byte) *pages {
	first, n := binary.Uvarint(b)
	b = b[max(n, 0):]
	p := &pages{
		denied: Set(first &^ isRelative), relative: first&isRelative != 0, answered: origins(first>>answeredShift) & everyOrigin,
		sample: make([]page, 0, len(b)/9),
	}
	for len(b) > 8 {
		form, n := binary.Uvarint(b[8:])
		if n <= 0 {
			break
		}
		p.sample = append(p.sample, page{binary.BigEndian.Uint64(b), Set(form)})
		b = b[8+n:]
	}
	return p
}
