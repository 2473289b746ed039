package duplicates

import (
	"math/bits"

	"github.com/weftcrawl/weft/similar"
)

const (
	// bands are groups of bins of a MinHash in which texts are looked up, see
	// the package's comment.
	bands = 4
	// bandBins is how many bins are in one. A bin has two bits.
	bandBins = 8
	bandBits = 2 * bandBins
)

// near finds MinHashes that differ from another in few bins, in memory: 36 bytes
// each. They are numbered as they were added. For each band it has chains of those
// that agree in its first bits, newest first; there are more chains as it grows,
// until there is one for each value of a band.
type near struct {
	mins    []similar.MinHash
	domains []uint32 // the low bits of their domains
	chains  uint     // bits that chains agree in
	heads   [bands][]uint32
	next    [bands][]uint32 // numbers plus one; 0: the end
}

const (
	fewestChains = 6 // bits
	chainLength  = 8 // on average, from which on there are more chains
)

// chain is the one of a MinHash in a band.
func (n *near) chain(band int, of similar.MinHash) uint64 {
	const mask = 1<<bandBins - 1
	value := (of[0]>>(band*bandBins)&mask)<<bandBins | of[1]>>(band*bandBins)&mask
	return value >> (bandBits - n.chains)
}

func (n *near) add(of similar.MinHash, domain uint64) {
	n.mins = append(n.mins, of)
	n.domains = append(n.domains, uint32(domain))
	for band := range bands {
		n.next[band] = append(n.next[band], 0)
	}
	if n.chains == 0 || len(n.mins) > chainLength<<n.chains && n.chains < bandBits {
		n.spread()
		return
	}
	n.link(len(n.mins) - 1)
}

// spread makes four times the chains.
func (n *near) spread() {
	n.chains = min(max(n.chains+2, fewestChains), bandBits)
	for band := range bands {
		n.heads[band] = make([]uint32, 1<<n.chains)
	}
	for number := range n.mins {
		n.link(number)
	}
}

func (n *near) link(number int) {
	for band := range bands {
		head := &n.heads[band][n.chain(band, n.mins[number])]
		n.next[band][number], *head = *head, uint32(number)+1
	}
}

// search calls visit with what agrees with a MinHash in a band and differs from it in at most
// similar.MaxDiffering bins, once each, in no order. It looks at no more than most in
// each chain.
func (n *near) search(of similar.MinHash, most int, visit func(number int, differing int, domain uint32)) {
	for band := range bands {
		if n.chains == 0 {
			return
		}
		looks := most
		for at := n.heads[band][n.chain(band, of)]; at != 0 && looks > 0; at = n.next[band][at-1] {
			looks--
			differ := of.Differing(n.mins[at-1])
			if d := bits.OnesCount64(differ); d <= similar.MaxDiffering && firstShared(differ) == band {
				visit(int(at-1), d, n.domains[at-1])
			}
		}
	}
}

// firstShared is the first band in which two MinHashes agree, by the bins in which
// they differ; bands: none.
func firstShared(differ uint64) int {
	for band := range bands {
		if differ>>(band*bandBins)&(1<<bandBins-1) == 0 {
			return band
		}
	}
	return bands
}
