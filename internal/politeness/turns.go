package politeness

import "github.com/weftcrawl/weft/codecs/weftpb"

// Priorities is the number of priorities that a URL may have; 0 is served most.
const Priorities = 4

// turns is a smooth weighted round of the priorities, 8:4:2:1. Whatever waits, each priority
// with something to serve is served once in a round, so that the lowest still moves.
var turns = [...]uint8{0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0}

// Serve returns the priority that is served at turn, a place in a round, of those that have
// anything, and the turn after it. It is false when none has. The URLs of a domain are served
// so, the domains when visits are scarce, and the requests when slots are.
func Serve(turn uint32, has func(priority int) bool) (priority int, next uint32, ok bool) {
	for i := range len(turns) {
		at := (int(turn) + i) % len(turns)
		if p := int(turns[at]); has(p) {
			return p, uint32(at+1) % uint32(len(turns)), true
		}
	}
	return 0, turn, false
}

// Asked returns own, unless people ask for another priority for the domain.
func Asked(asked weftpb.DomainSetting_Priority, own int) int {
	switch asked {
	case weftpb.DomainSetting_PRIORITY_HIGH:
		return 0
	case weftpb.DomainSetting_PRIORITY_LOW:
		return Priorities - 1
	}
	return own
}
