package sim

import (
	"math/rand/v2"
	"net/http"
	"strings"
)

// habit is a site's way of having two URLs for a page.
type habit uint8

const (
	plain   habit = iota // none
	slashed              // with a slash at the end, and without
	indexed              // with index.html behind the slash, and without
	onWWW                // on a host that begins with www, and on one that does not
	secured              // https, and http
	habits
)

// twinOf is the other URL of a page, by the habit of its site; empty: it has
// none.
func (h habit) twinOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	switch h {
	case slashed:
		return url + "/"
	case indexed:
		return url + "index.html"
	case onWWW:
		if bare, found := strings.CutPrefix(rest, "www."); found {
			return scheme + "://" + bare
		}
		return scheme + "://www." + rest
	case secured:
		return "https://" + rest
	}
	return ""
}

// twins gives the pages of sites that have a habit a second URL each. Nearly
// always one of the two gives way to the other, by a redirect or by naming it as
// canonical, as all of the site do; but there are pages that do it the other way
// round, that have a page of their own at either, and where there is none at the
// one that the others would give way to. Half of all links to a page that has two
// URLs name the second one.
func (b *web) twins(rng *rand.Rand, all []string) {
	type manner struct{ redirects, away bool }
	manners := map[*site]manner{}
	for _, s := range b.sites {
		manners[s] = manner{redirects: rng.IntN(3) > 0, away: s.habit == secured || s.habit != indexed && rng.IntN(2) == 0}
	}
	for _, url := range all {
		p := b.pages[url]
		s := p.origin.site
		m := manners[s]
		other := s.habit.twinOf(url)
		if other == "" {
			continue
		}
		q := &page{origin: b.originOf(other, p.origin), url: other, status: p.status, location: p.location, twin: p}
		p.twin, b.pages[other] = q, q
		if p.status != http.StatusOK {
			continue // at both
		}
		from, to := q, p
		if m.away {
			q.links, p.links = p.links, nil
			from, to = p, q
		}
		switch rng.IntN(16) {
		case 0: // a page of its own
			from.links = []string{all[rng.IntN(len(all))]}
		case 1: // the other way round
			from.links, to.links = to.links, nil
			to.giveWay(from, m.redirects)
		case 2: // no page
			from.links, to.links = to.links, nil
			to.status = http.StatusNotFound
		default:
			from.giveWay(to, m.redirects)
		}
	}
	for _, url := range keys(b.pages) {
		for i, link := range b.pages[url].links {
			if p := b.pages[canonical(link)]; p != nil && p.twin != nil && rng.IntN(2) == 0 {
				b.pages[url].links[i] = p.twin.url
			}
		}
	}
}

// giveWay makes p say that its page is at another URL.
func (p *page) giveWay(to *page, redirects bool) {
	if redirects {
		p.status, p.location = http.StatusMovedPermanently, to.url
		return
	}
	p.canonical, p.links = to.url, to.links
}

// originOf is the origin of a URL, which has the rules of another if it is new.
func (b *web) originOf(url string, like *origin) *origin {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	name := scheme + "://" + host
	if b.hosts[name] == nil {
		b.hosts[name] = &origin{site: like.site, name: name, status: http.StatusOK, disallow: like.disallow}
	}
	return b.hosts[name]
}
