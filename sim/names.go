package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/weftcrawl/weft/fetch"
)

// names gives sites what real ones link to: names of their own that do not exist, a
// host that never answers beside one that does, and hosts whose name is not found
// once, as when a name server is out of step.
func (b *web) names(rng *rand.Rand, all []string) {
	for _, s := range b.sites {
		if rng.IntN(2) == 0 {
			b.dead(rng, s, all)
		}
		if len(s.origins) > 1 && s.habit == plain && rng.IntN(3) == 0 {
			s.origins[rng.IntN(len(s.origins))].down = true
		}
		for _, o := range s.origins {
			if rng.IntN(4) == 0 {
				o.unfound = 1
			}
		}
	}
	for _, s := range b.sites {
		for _, o := range s.origins {
			if o.elsewhere != nil && !o.reachable() {
				s.healthy = false
			}
		}
	}
}

// dead links to a few URLs of a name that does not exist.
func (b *web) dead(rng *rand.Rand, s *site, all []string) {
	o := &origin{site: s, name: "http://gone." + s.domain, gone: true}
	for i := range 1 + rng.IntN(4) {
		p := &page{origin: o, url: fmt.Sprintf("%s/g%d", o.name, i)}
		b.pages[p.url] = p
		for range 1 + rng.IntN(3) {
			from := b.pages[all[rng.IntN(len(all))]]
			from.links = append(from.links, p.url)
		}
	}
}

// unresolved tells whether a look-up finds no such name.
func (o *origin) unresolved() bool {
	if o == nil {
		return true
	}
	if o.unfound > 0 {
		o.unfound--
		return true
	}
	return false
}

// judgeName judges the outcome of a URL of a name that does not exist, or that was
// not found once.
func (w *world) judgeName(p *page, reason string) {
	missing := reason == string(fetch.ClassDNSNotFound)
	switch {
	case p.origin.gone && !missing && p.origin.site.healthy:
		w.violate("name", "%s, whose name does not exist, ended as %s", p.url, reason)
	case !p.origin.gone && missing:
		w.violate("name", "%s ended as %s after one such answer", p.url, reason)
	}
}
