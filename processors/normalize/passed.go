package normalize

import (
	"sync"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// passed remembers links to other domains that were passed on. Each page of a site often has the
// same links to other sites, and dedupe need not be asked about each of them again: a record of
// its own for one URL costs nearly as much as one for a hundred.
//
// A link is remembered when its record is acknowledged. Then dedupe will read it, whatever
// happens to this process, and what follows from a link does not depend on how often it is named.
// passed is a cache: what it forgets is passed on again. The zero value remembers nothing. It is
// safe for concurrent use.
type passed struct {
	mu sync.Mutex
	// links has the fingerprint of a link in the place that its first bytes say. A later link
	// takes the place of an earlier one.
	links []fingerprint
}

type fingerprint = [16]byte

// passedLinks is how many links are remembered at most, in one MiB.
const passedLinks = 1 << 16

func (p *passed) has(url string) bool {
	link := urls.Fingerprint(url) // by which dedupe knows a URL, too
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.links != nil && p.links[placeOf(link)] == link
}

func (p *passed) add(links []fingerprint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.links == nil {
		p.links = make([]fingerprint, passedLinks)
	}
	for _, link := range links {
		p.links[placeOf(link)] = link
	}
}

func placeOf(link fingerprint) int { return int(link[0])<<8 | int(link[1]) }

// leads tells whether a target is a link to another domain than that of its source.
func (b *batches) leads(domain string, via weftpb.Via) bool {
	return via == weftpb.Via_VIA_LINK && b.domain != "" && domain != b.domain
}

// leading are the links of a batch that lead to another domain. An entry of a sitemap is none: what
// follows from it depends on who names it.
func (b *batches) leading(to *batch) (links []fingerprint) {
	for _, t := range to.record.Targets {
		if b.leads(to.domain, t.Via) && t.Entry == nil && t.Sitemap == nil {
			links = append(links, urls.Fingerprint(t.Url))
		}
	}
	return links
}
