package variants

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/urls"
)

const maxPages = 32

// pages is what is known of the pages of one site that are their URLs' own. The zero
// value knows nothing.
type pages struct {
	// denied are the rules that would take a URL with such a page.
	denied Set
	// relative: the site has a relative page, whose links would lead elsewhere from the
	// URL with the other slash.
	relative bool
	// answered are the origins of the site at which a page was read.
	answered origins
	// sample has the pages of the least classes, in their order. Of two pages of a
	// class both are in it or neither is, however many pages the site has and in which
	// order they come.
	sample []page
}

type page struct {
	// class is the hash of what all rules together make of the URL; form are the rules
	// that were needed.
	class uint64
	form  Set
}

// folding makes one URL of all URLs that could be variants of each other.
const folding = every &^ (1<<HTTP | 1<<WWW | 1<<Slash)

func pageAt(u urls.URL, domain string) page {
	folded, form := Apply(folding, u, domain)
	print := urls.Fingerprint(folded.String())
	return page{binary.BigEndian.Uint64(print[:]), form}
}

// oneIn tells whether the class of a page is one of n. It is for all URLs of a class or for
// none.
func (p page) oneIn(n uint64) bool { return p.class%n == 0 }

// between are the rules that make one of two URLs of a class of the other; none if
// both are index files, because no rule does that.
func (p page) between(other page) Set {
	differ := p.form ^ other.form
	if bits.OnesCount32(uint32(differ&^(1<<firstIndex-1))) > 1 {
		return 0
	}
	return differ | differ.opposites()
}

// deny notes the rules that would take a URL, and returns those that are new.
func (p *pages) deny(u urls.URL, domain string) (fresh Set) {
	about := of(HTTPS, HTTP, NoWWW, WWW, Slash, NoSlash)
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

// add takes a page into the sample, or returns the rules between it and another of its
// class.
func (p *pages) add(fresh page) (against Set, changed bool) {
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

// isRelative is a flag above the rules that are denied. The origins that answered are
// above it, in bits that older programs ignore.
const (
	isRelative    = 1 << 31
	answeredShift = 32
)

func (p *pages) fields(f *kv.Fields) {
	first := uint64(p.denied) | uint64(p.answered)<<answeredShift
	if p.relative {
		first |= isRelative
	}
	f.Uint(&first)
	p.denied, p.relative, p.answered = Set(first&^isRelative), first&isRelative != 0, origins(first>>answeredShift)&everyOrigin
	kv.Rest(f, &p.sample, func(s *page) {
		f.Uint64(&s.class)
		form := uint64(s.form)
		f.Uint(&form)
		s.form = Set(form)
	})
}

func (p *pages) encode() []byte { return kv.Encode(8+12*len(p.sample), p.fields) }

// decodePages is the inverse of encode, and as lenient as decode.
func decodePages(b []byte) *pages {
	p := &pages{}
	_ = kv.Decode(b, p.fields)
	return p
}
