package frontier

import "github.com/weftcrawl/weft/codecs/weftpb"

// priorities is the number of queues of a domain; 0 is served most.
const priorities = 4

// shallow is how many links from a seed a page still counts as near.
const shallow = 3

// Priority returns the queue that a URL first joins and the reason.
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

// turns is a smooth weighted round of the priorities, 8:4:2:1: the place in it
// is a domain's turn. Whatever the queues hold, each non-empty one is served
// once in a round, so that the lowest still moves.
var turns = [...]uint8{0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0}

// serve returns the priority that is served at turn, of those that have
// anything, and the turn after it. It is false when none has.
func serve(turn uint32, has func(priority int) bool) (priority int, next uint32, ok bool) {
	for i := range len(turns) {
		at := (int(turn) + i) % len(turns)
		if p := int(turns[at]); has(p) {
			return p, uint32(at+1) % uint32(len(turns)), true
		}
	}
	return 0, turn, false
}
