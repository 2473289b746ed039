package sim

import (
	"fmt"
	"math/rand/v2"
)

// addDNSFailures gives sites what real ones link to: host names that do not exist,
// a host that never answers beside one that does, and host names that are not found
// once, as when one of several name servers is not up to date.
func (b *web) addDNSFailures(rng *rand.Rand, all []string) {
	for _, s := range b.sites {
		if rng.IntN(2) == 0 {
			b.linkToMissingName(rng, s, all)
		}
		if len(s.origins) > 1 && s.spelling == oneSpelling && rng.IntN(3) == 0 {
			s.origins[rng.IntN(len(s.origins))].down = true
		}
		for _, o := range s.origins {
			if rng.IntN(4) == 0 {
				o.dnsMisses = 1
			}
		}
	}
	for _, s := range b.sites {
		for _, o := range s.origins {
			if o.robotsRedirect != nil && !o.reachable() {
				s.healthy = false
			}
		}
	}
}

// linkToMissingName adds links to a few URLs of a host name that does not exist.
func (b *web) linkToMissingName(rng *rand.Rand, s *site, all []string) {
	o := &origin{site: s, name: "http://gone." + s.domain, noSuchName: true}
	for i := range 1 + rng.IntN(4) {
		p := &page{origin: o, url: fmt.Sprintf("%s/g%d", o.name, i)}
		b.pages[p.url] = p
		for range 1 + rng.IntN(3) {
			from := b.pages[all[rng.IntN(len(all))]]
			from.links = append(from.links, p.url)
		}
	}
}

// lookupFails tells whether a look-up does not find the host name.
func (o *origin) lookupFails() bool {
	if o == nil {
		return true
	}
	if o.dnsMisses > 0 {
		o.dnsMisses--
		return true
	}
	return false
}
