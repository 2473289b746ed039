package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// addDNSFailures gives sites what real ones link to: host names that do not exist, a host that
// never answers beside one that does, and host names that are not found once, as if one of
// several name servers were not up to date.
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

// lookUp returns the exchange that fails because the host of a URL is not found, or nil,
// and how long the look-up takes: as a rule the answer is in the cache.
func (b *web) lookUp(url string) (*httpclient.Exchange, time.Duration) {
	took := time.Duration(0)
	if b.w.chance(20) {
		took = b.w.between(5*time.Millisecond, 3*time.Second)
	}
	target, _ := urls.Parse(url)
	switch o, p := b.hosts[target.Origin()], b.pages[url]; {
	case o == nil:
		return &httpclient.Exchange{URL: url, Class: httpclient.ClassDNSNotFound}, took
	case o.dnsMisses > 0:
		o.dnsMisses--
		return &httpclient.Exchange{URL: url, Class: httpclient.ClassDNSNotFound}, took
	case p != nil && p.failures > 0 && p.failing == httpclient.ClassDNSError:
		p.failures--
		return &httpclient.Exchange{URL: url, Class: httpclient.ClassDNSError}, took
	}
	return nil, took
}
