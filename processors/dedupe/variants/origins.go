package variants

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// origins is a set of the origins of one site, which are four: http and https, without
// "www." and with it. The zero value is empty.
type origins uint8

const (
	// ofHTTPS and ofWWW are what the number of an origin is made of.
	ofHTTPS, ofWWW = 1, 2

	everyOrigin = origins(1<<((ofHTTPS|ofWWW)+1) - 1)
)

// elsewhere are the rules that lead from one origin to another.
const elsewhere = Set(1<<HTTPS | 1<<HTTP | 1<<NoWWW | 1<<WWW)

// originOf returns the origin of a URL.
func originOf(u urls.URL, domain string) origins {
	number := 0
	if u.Scheme() == "https" {
		number |= ofHTTPS
	}
	if Site(u, domain) != u.Host() {
		number |= ofWWW
	}
	return 1 << number
}

// originName is the origin of a URL as "https://www.example.com".
func originName(u urls.URL) string { return u.Scheme() + "://" + u.Host() }

// eachOrigin calls visit with the origins of a site and their names.
func eachOrigin(site string, visit func(name string, at origins)) {
	for number := range (ofHTTPS | ofWWW) + 1 {
		scheme, host := "http", site
		if number&ofHTTPS != 0 {
			scheme = "https"
		}
		if number&ofWWW != 0 {
			host = www + site
		}
		visit(scheme+"://"+host, 1<<number)
	}
}

// leadsTo are the origins to which the rules of elsewhere may lead.
var leadsTo = map[Rule]origins{
	HTTPS: 1<<ofHTTPS | 1<<(ofHTTPS|ofWWW),
	HTTP:  1 | 1<<ofWWW,
	NoWWW: 1 | 1<<ofHTTPS,
	WWW:   1<<ofWWW | 1<<(ofHTTPS|ofWWW),
}

// showsPage tells which evidence is of a page that was read.
func showsPage(kind weftpb.Evidence_Kind) bool {
	switch kind {
	case weftpb.Evidence_KIND_CANONICAL, weftpb.Evidence_KIND_CONTENT, weftpb.Evidence_KIND_EMPTY,
		weftpb.Evidence_KIND_OWN, weftpb.Evidence_KIND_PAGE, weftpb.Evidence_KIND_SHORT, weftpb.Evidence_KIND_FILE:
		return true
	}
	return false
}

// answer notes that a page was read at the origin of a URL. It returns false if one was
// read before.
func (v *view) answer(name string, url urls.URL) bool {
	if v.answers(name, url) {
		return false
	}
	p := v.lookAtPages(name)
	p.answered |= originOf(url, v.domain)
	v.pages[name] = p
	return true
}

// answers tells whether a page was read at the origin of a URL.
func (v *view) answers(name string, url urls.URL) bool {
	return v.lookAtPages(name).answered&originOf(url, v.domain) != 0
}

// apply is Apply of rules of the definition (given) and of learnt ones. Learnt rules do
// not lead to another origin before a page was read there: that origin may have no
// server, and all URLs that are merged into its URLs would be lost.
func (v *view) apply(given, learnt Set, u urls.URL) (kept urls.URL, used Set) {
	kept, used = Apply(given|learnt, u, v.domain)
	if used&learnt&elsewhere != 0 && !v.answers(Site(kept, v.domain), kept) {
		return Apply(given|learnt&^elsewhere, u, v.domain)
	}
	return kept, used
}
