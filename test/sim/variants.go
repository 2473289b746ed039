package sim

import (
	"math/rand/v2"
	"net/http"
	"strings"
)

// spelling is how the pages of a site get a second URL, a variant.
type spelling uint8

const (
	oneSpelling spelling = iota // pages have one URL
	finalSlash                  // with a slash at the end, and without
	indexFile                   // with index.html behind the slash, and without
	wwwHost                     // on a host that begins with www, and on one that does not
	httpsScheme                 // https, and http
	spellings
)

// variantOf is the other URL of a page; empty: it has no other URL.
func (h spelling) variantOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	switch h {
	case finalSlash:
		return url + "/"
	case indexFile:
		return url + "index.html"
	case wwwHost:
		if bare, found := strings.CutPrefix(rest, "www."); found {
			return scheme + "://" + bare
		}
		return scheme + "://www." + rest
	case httpsScheme:
		return "https://" + rest
	}
	return ""
}

// addVariants gives a second URL to each page of a site that has two spellings. On
// each site the same one of the two is canonical: the other redirects to it, or
// names it as canonical. Some pages are exceptions: the other URL is canonical, or
// both have a page of their own, or the canonical one has no page. Half of all
// links to such pages name the second URL.
func (b *web) addVariants(rng *rand.Rand, all []string) {
	type siteRule struct{ redirects, secondIsCanonical bool }
	rules := map[*site]siteRule{}
	for _, s := range b.sites {
		rules[s] = siteRule{
			redirects:         rng.IntN(3) > 0,
			secondIsCanonical: s.spelling == httpsScheme || s.spelling != indexFile && rng.IntN(2) == 0,
		}
	}
	for _, url := range all {
		p := b.pages[url]
		rule := rules[p.origin.site]
		other := p.origin.site.spelling.variantOf(url)
		if other == "" {
			continue
		}
		q := &page{origin: b.originOf(other, p.origin), url: other, status: p.status, location: p.location, variant: p}
		p.variant, b.pages[other] = q, q
		if p.status != http.StatusOK {
			continue // at both
		}
		from, to := q, p
		if rule.secondIsCanonical {
			q.links, p.links = p.links, nil
			from, to = p, q
		}
		switch rng.IntN(16) {
		case 0: // a page of its own
			from.links = []string{all[rng.IntN(len(all))]}
		case 1: // the other URL is canonical
			from.links, to.links = to.links, nil
			to.nameCanonical(from, rule.redirects)
		case 2: // no page at the canonical URL
			from.links, to.links = to.links, nil
			to.status = http.StatusNotFound
		default:
			from.nameCanonical(to, rule.redirects)
		}
	}
	for _, url := range keys(b.pages) {
		for i, link := range b.pages[url].links {
			if p := b.pages[canonical(link)]; p != nil && p.variant != nil && rng.IntN(2) == 0 {
				b.pages[url].links[i] = p.variant.url
			}
		}
	}
}

// nameCanonical makes p redirect to another URL, or name it as canonical.
func (p *page) nameCanonical(to *page, redirects bool) {
	if redirects {
		p.status, p.location = http.StatusMovedPermanently, to.url
		return
	}
	p.canonical, p.links = to.url, to.links
}

// originOf is the origin of a URL. A new one gets the robots.txt of another.
func (b *web) originOf(url string, like *origin) *origin {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	name := scheme + "://" + host
	if b.hosts[name] == nil {
		b.hosts[name] = &origin{site: like.site, name: name, status: http.StatusOK, disallow: like.disallow}
	}
	return b.hosts[name]
}
