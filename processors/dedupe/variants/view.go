package variants

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// view is the sites of one domain as they are after some evidence. It changes copies,
// which Sites.Apply puts into the store.
type view struct {
	known  *Sites
	domain string
	sites  map[string]*site
	pages  map[string]*pages
	absent map[string]bool // URLs that have no page
	forms  map[string]Set  // page.form, by formKey

	// What was read last and is not changed: most events are about one site.
	readSite, readPages string
	lastSite            *site
	lastPages           *pages
}

func newView(known *Sites, domain string) view {
	return view{known: known, domain: domain, sites: map[string]*site{}, pages: map[string]*pages{}, absent: map[string]bool{}, forms: map[string]Set{}}
}

// site returns a copy that may be changed.
func (v *view) site(name string) *site {
	s := v.look(name)
	v.sites[name] = s
	return s
}

// look returns a site that the caller must not change. Most sites show nothing, and are
// not in the store.
func (v *view) look(name string) *site {
	if s, ok := v.sites[name]; ok {
		return s
	}
	if v.lastSite == nil || v.readSite != name {
		v.readSite, v.lastSite = name, decode(v.known.store.Get(siteKey(name)))
	}
	return v.lastSite
}

// lookAtPages returns what is known of the pages of a site. A caller that changes it must put it
// into v.pages.
func (v *view) lookAtPages(name string) *pages {
	if p, ok := v.pages[name]; ok {
		return p
	}
	if v.lastPages == nil || v.readPages != name {
		v.readPages, v.lastPages = name, decodePages(v.known.store.Get(pagesKey(name)))
	}
	return v.lastPages
}

// inForce are the rules in force of a site; most sites have no rules.
func (v *view) inForce(name string) Set {
	if s, ok := v.sites[name]; ok {
		return s.inForce()
	}
	return v.known.tracked[name].inForce
}

// try notes that a URL is fetched as a probe although rules in force would take it.
func (v *view) try(url string) {
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return
	}
	name := siteOf(url, v.domain)
	if _, used := v.apply(0, v.inForce(name), u); used != 0 {
		v.site(name).try(used)
	}
}

// hasMerged tells whether a site has merged URLs.
func (v *view) hasMerged(name string) bool {
	if s, ok := v.sites[name]; ok {
		return s.merged > 0
	}
	return v.known.tracked[name].merged
}

// broken are the broken rules of a site that has merged URLs; none of another site.
func (v *view) broken(name string) Set {
	if !v.hasMerged(name) {
		return 0
	}
	return v.look(name).broken()
}

// same is the distance of equal texts. Texts that are nearly the same are often two
// pages of one form with different numbers.
const same = 0

// weigh takes evidence in. It returns false if the evidence changes nothing.
func (v *view) weigh(e *weftpb.Evidence) bool {
	url, refusal := urls.Parse(e.GetUrl())
	if refusal != urls.Accepted {
		return false
	}
	name := Site(url, v.domain)
	answered := showsPage(e.Kind) && v.answer(name, url)
	doubted := e.Relative && v.doubt(name, url)
	return v.judge(e, name, url) || answered || doubted
}

// judge takes evidence in, except for what it says of relative links and of origins
// that answer.
func (v *view) judge(e *weftpb.Evidence, name string, url urls.URL) bool {
	switch e.Kind {
	case weftpb.Evidence_KIND_OWN:
		_, used := Apply(v.inForce(name)&v.look(name).said(), url, v.domain)
		changed := v.note(name, url)
		return v.refute(name, used) || changed
	case weftpb.Evidence_KIND_PAGE:
		return v.note(name, url)
	case weftpb.Evidence_KIND_FILE:
		return v.noteForm(name, url)
	case weftpb.Evidence_KIND_MISSING:
		return v.miss(name, e.Url)
	case weftpb.Evidence_KIND_SHORT:
		return false
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
	path, slashed := pathOf(url), (forth|back)&slashes != 0
	switch e.Kind {
	case weftpb.Evidence_KIND_REDIRECT, weftpb.Evidence_KIND_CANONICAL:
		if forth == 0 {
			return v.refute(name, back)
		}
		// The links of a relative page are written for its own URL.
		changed := !(slashed && e.Relative) && v.confirm(name, forth, path, said)
		return v.refute(name, forth.opposites()|forth&v.lookAtPages(name).denied) || changed
	case weftpb.Evidence_KIND_CONTENT:
		if e.Distance != same || slashed && (e.Relative || v.lookAtPages(name).relative) {
			return false
		}
		// Equal texts have no direction. They count for the one whose opposite is not
		// confirmed, and never for http.
		open := func(rules Set) bool {
			return rules != 0 && !rules.Has(HTTP) && rules.opposites()&v.look(name).confirmed() == 0
		}
		switch {
		case open(forth):
			return v.confirm(name, forth, path, looks)
		case open(back):
			return v.confirm(name, back, pathOf(other), looks)
		}
	}
	return false
}

// note takes the page at a URL in. It is against what a redirect or a canonical URL
// said of other URLs. It is not against equal texts: it may be the first page with its
// text.
func (v *view) note(name string, url urls.URL) bool {
	changed := v.noteForm(name, url)
	p := v.lookAtPages(name)
	fresh := p.deny(url, v.domain)
	if fresh == 0 {
		return changed
	}
	v.pages[name] = p
	v.refute(name, fresh&v.look(name).said())
	return true
}

// noteForm takes the form of the page at a URL in. Together with another page of its class,
// the page is against the rules between the two.
func (v *view) noteForm(name string, url urls.URL) bool {
	p, at := v.lookAtPages(name), pageAt(url, v.domain)
	against, changed := p.add(at)
	if changed {
		v.pages[name] = p
	}
	if at.oneIn(probeEvery) {
		key := formKey(name, at)
		if form, ok := v.formOf(key); ok {
			against |= at.between(page{at.class, form})
		} else {
			v.forms[key] = at.form
			changed = true
		}
	}
	return v.refute(name, against) || changed
}

// formOf returns the form of the first page of a class, if the class is one of those that
// are probed.
func (v *view) formOf(key string) (form Set, ok bool) {
	if form, ok = v.forms[key]; ok {
		return form, true
	}
	return decodeForm(v.known.store.Get([]byte(key)))
}

// doubt notes that a page is relative: its links lead elsewhere from the URL with the
// other slash. Equal texts do not tell which of the two URLs the links are meant for,
// and do not count for the slashes of the site any more.
func (v *view) doubt(name string, url urls.URL) bool {
	p := v.lookAtPages(name)
	if _, ok := OtherSlash(url); !ok || p.relative {
		return false
	}
	p.relative = true
	v.pages[name] = p
	if v.look(name).confirmed()&slashes != 0 {
		v.site(name).doubt(slashes)
	}
	return true
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
	v.absent[url] = true
	return true
}

func (v *view) missing(name, url string) bool {
	return v.absent[url] || v.known.store.Get(key(absentPrefix, name, url)) != nil
}

// pathOf is the hash of a path. Queries do not count: a hundred of them may be
// one page.
func pathOf(u urls.URL) uint64 {
	print := urls.Fingerprint(u.Path())
	return binary.BigEndian.Uint64(print[:])
}
