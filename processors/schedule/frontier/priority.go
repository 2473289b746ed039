package frontier

import (
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
)

// priorities is the number of queues of an origin; 0 is served most.
const priorities = politeness.Priorities

// shallow is the largest number of links between a seed and a page that counts as near.
const shallow = 3

// Priority returns the queue that a URL joins first, and the reason.
//
//	0  robots   another domain waits for it
//	0  seed     a person asked for it, or a seed redirects to it
//	1  sitemap  its owner lists it, at whatever depth
//	2  shallow  at most three links away from a seed
//	3  deep     everything else
func Priority(depth uint32, via weftpb.Via) (priority uint32, reason string) {
	switch {
	case via == weftpb.Via_VIA_ROBOTS:
		return 0, "robots"
	case via == weftpb.Via_VIA_SEED || depth == 0:
		return 0, "seed"
	case via == weftpb.Via_VIA_SITEMAP:
		return 1, "sitemap"
	case depth <= shallow:
		return 2, "shallow"
	}
	return 3, "deep"
}
