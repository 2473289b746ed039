package variants

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/urls"
)

// view is the sites of one domain as they are after some evidence. It changes
// copies; Book.Apply puts them into the store.
type view struct {
	book   *Book
	domain string
	sites  map[string]*site
	absent map[string]bool // URLs that have no page
}

// site returns a copy that may be changed.
func (v *view) site(name string) *site {
	s, ok := v.sites[name]
	if !ok {
		if v.sites == nil {
			v.sites = map[string]*site{}
		}
		s = decode(v.book.store.Get(siteKey(name)))
		v.sites[name] = s
	}
	return s
}

// inForce are the rules of a site that are; most have none, and cost a look.
func (v *view) inForce(name string) Set {
	if s, ok := v.sites[name]; ok {
		return s.inForce()
	}
	return v.book.tracked[name].inForce
}

// keeps tells whether a site has URLs that are given up.
func (v *view) keeps(name string) bool {
	if s, ok := v.sites[name]; ok {
		return s.merged > 0
	}
	return v.book.tracked[name].merged
}

// Distances of contents: same is that of equal texts, for nearly the same are two
// pages of one form with other numbers in it; different is what they are said to be
// when they are not alike at all.
const same, different = 0, 64

// weigh takes evidence in. It is false if it changes nothing.
func (v *view) weigh(e *weftpb.Evidence) bool {
	url, refusal := urls.Parse(e.GetUrl())
	if refusal != urls.Accepted {
		return false
	}
	name := Site(url, v.domain)
	switch e.Kind {
	case weftpb.Evidence_KIND_OWN:
		_, used := Apply(v.inForce(name), url, v.domain)
		return v.refute(name, used)
	case weftpb.Evidence_KIND_MISSING:
		return v.miss(name, e.Url)
	}
	other, refusal := urls.Parse(e.GetSameAs())
	if refusal != urls.Accepted {
		return false
	}
	if name != Site(other, v.domain) {
		return false
	}
	forth, back := Between(url, other, v.domain), Between(other, url, v.domain)
	if forth|back == 0 {
		return false
	}
	path := pathOf(url)
	switch e.Kind {
	case weftpb.Evidence_KIND_REDIRECT, weftpb.Evidence_KIND_CANONICAL:
		if forth == 0 {
			return v.refute(name, back)
		}
		changed := v.confirm(name, forth, path, said)
		return v.refute(name, forth.opposites()) || changed
	case weftpb.Evidence_KIND_CONTENT:
		switch {
		case e.Distance >= different:
			return v.refute(name, forth|back)
		case e.Distance > same:
			return false
		}
		// Content has no direction: it takes the one that is open.
		open := func(rules Set) bool { return rules != 0 && rules.opposites()&v.site(name).confirmed() == 0 }
		switch {
		case open(forth):
			return v.confirm(name, forth, path, looks)
		case open(back):
			return v.confirm(name, back, pathOf(other), looks)
		}
	}
	return false
}

func (v *view) confirm(name string, rules Set, path uint64, points uint8) (changed bool) {
	s := v.site(name)
	rules.each(func(r Rule) { changed = s.confirm(r, path, points) || changed })
	return changed
}

func (v *view) refute(name string, rules Set) (changed bool) {
	if rules == 0 {
		return false
	}
	s := v.site(name)
	rules.each(func(r Rule) { changed = s.refute(r) || changed })
	return changed
}

// miss notes that a URL has no page; it is false if that was known.
func (v *view) miss(name, url string) bool {
	if v.missing(name, url) {
		return false
	}
	if v.absent == nil {
		v.absent = map[string]bool{}
	}
	v.absent[url] = true
	return true
}

func (v *view) missing(name, url string) bool {
	return v.absent[url] || v.book.store.Get(absentKey(name, url)) != nil
}

// pathOf is the hash of a path. Queries do not count: a hundred of them may be
// one page.
func pathOf(u urls.URL) uint64 {
	print := urls.Fingerprint(u.Path())
	return binary.BigEndian.Uint64(print[:])
}
