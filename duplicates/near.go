package duplicates

import (
	"math/bits"

	"github.com/weftcrawl/weft/similar"
)

// bands that a SimHash is cut into: one more than bits may differ.
const (
	bands    = similar.MaxDistance + 1
	bandBits = 64 / bands
)

// near finds SimHashes that differ from another in few bits, in memory: 28 bytes
// each. They are numbered as they were added. For each band it has chains of those
// that agree in its first bits, newest first; there are more chains as it grows,
// until there is one for each value of a band.
type near struct {
	sims    []uint64
	domains []uint32 // the low bits of their domains
	chains  uint     // bits that chains agree in
	heads   [bands][]uint32
	next    [bands][]uint32 // numbers plus one; 0: the end
}

const (
	fewestChains = 6 // bits
	chainLength  = 8 // on average, from which on there are more chains
)

// chain is the one of a SimHash in a band.
func (n *near) chain(band int, sim uint64) uint64 {
	return bits.RotateLeft64(sim, band*bandBits) >> (64 - n.chains)
}

func (n *near) add(sim, domain uint64) {
	n.sims = append(n.sims, sim)
	n.domains = append(n.domains, uint32(domain))
	for band := range bands {
		n.next[band] = append(n.next[band], 0)
	}
	if n.chains == 0 || len(n.sims) > chainLength<<n.chains && n.chains < bandBits {
		n.spread()
		return
	}
	n.link(len(n.sims) - 1)
}

// spread makes four times the chains.
func (n *near) spread() {
	n.chains = min(max(n.chains+2, fewestChains), bandBits)
	for band := range bands {
		n.heads[band] = make([]uint32, 1<<n.chains)
	}
	for number := range n.sims {
		n.link(number)
	}
}

func (n *near) link(number int) {
	for band := range bands {
		head := &n.heads[band][n.chain(band, n.sims[number])]
		n.next[band][number], *head = *head, uint32(number)+1
	}
}

// search calls visit with what is at most similar.MaxDistance from sim, once each,
// in no order. It looks at no more than most in each chain.
func (n *near) search(sim uint64, most int, visit func(number int, distance int, domain uint32)) {
	for band := range bands {
		if n.chains == 0 {
			return
		}
		looks := most
		for at := n.heads[band][n.chain(band, sim)]; at != 0 && looks > 0; at = n.next[band][at-1] {
			looks--
			other := n.sims[at-1]
			if d := similar.Bits(sim, other); d <= similar.MaxDistance && firstShared(sim^other) == band {
				visit(int(at-1), d, n.domains[at-1])
			}
		}
	}
}

// firstShared is the first band in which two SimHashes agree, by the bits in which
// they differ.
func firstShared(differ uint64) int {
	for band := range bands {
		if bits.RotateLeft64(differ, band*bandBits)>>(64-bandBits) == 0 {
			return band
		}
	}
	return bands
}
