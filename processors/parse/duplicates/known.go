package duplicates

import (
	"encoding/binary"
	"math/bits"

	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// known is what is in memory of a partition: its representatives, and which texts it may have.
// Most pages have a new text. For these Pebble is not read, to judge them or to fold them.
type known struct {
	near  near
	texts texts
}

// texts is a set of texts. It has the first 32 bits of their hashes: with a million texts,
// one of four thousand new texts looks as if it were in the set. It takes 5 to 11 bytes
// for each text; a map takes 13 to 20.
type texts struct {
	slots []uint32 // a hash is in its slot or, if that is taken, in the next; 0: free
	n     int
}

// fewestSlots is a power of two, as all numbers of slots are.
const fewestSlots = 64

func (t *texts) add(hash simhash.Hash) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	if at := t.find(short(hash)); t.slots[at] == 0 {
		t.slots[at] = short(hash)
		t.n++
	}
}

// mayHave tells whether the text may have been added. If it says no, the text is not in
// the set.
func (t *texts) mayHave(hash simhash.Hash) bool {
	return t.n > 0 && t.slots[t.find(short(hash))] != 0
}

// short is never 0.
func short(hash simhash.Hash) uint32 { return max(binary.BigEndian.Uint32(hash[:]), 1) }

// find is the slot of a text, or the free one where it would be.
func (t *texts) find(text uint32) int {
	last := len(t.slots) - 1
	at := int(text) & last
	for t.slots[at] != 0 && t.slots[at] != text {
		at = (at + 1) & last
	}
	return at
}

func (t *texts) grow() {
	old := t.slots
	t.slots = make([]uint32, max(2*len(old), fewestSlots))
	for _, text := range old {
		if text != 0 {
			t.slots[t.find(text)] = text
		}
	}
}

const (
	// bands are groups of bins of a MinHash in which texts are looked up, see
	// the package's comment.
	bands = 4
	// bandBins is how many bins are in one. A bin has two bits.
	bandBins = 8
	bandBits = 2 * bandBins
)

// near finds MinHashes that differ from another one in few bins. It is in memory, 36 bytes
// for each. MinHashes are numbered in the order in which they were added. For each band
// there are chains of MinHashes that agree in its first bits, newest first. The number of
// chains grows with the number of MinHashes, until every value of a band has a chain.
type near struct {
	mins    []simhash.MinHash
	domains []uint32 // the low bits of their domains
	chains  uint     // bits that chains agree in
	heads   [bands][]uint32
	next    [bands][]uint32 // numbers plus one; 0: the end
}

const (
	fewestChains = 6 // bits
	chainLength  = 8 // on average, from which on there are more chains
)

// chain is the number of the chain of a MinHash in a band.
func (n *near) chain(band int, of simhash.MinHash) uint64 {
	const mask = 1<<bandBins - 1
	value := (of[0]>>(band*bandBins)&mask)<<bandBins | of[1]>>(band*bandBins)&mask
	return value >> (bandBits - n.chains)
}

func (n *near) add(of simhash.MinHash, domain uint64) {
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

// search calls visit with the MinHashes that agree with another one in a band and differ
// from it in at most simhash.MaxDiffering bins, once each, in no order. It looks at no more
// than most of them in each chain.
func (n *near) search(of simhash.MinHash, most int, visit func(number int, differing int, domain uint32)) {
	for band := range bands {
		if n.chains == 0 {
			return
		}
		looks := most
		for at := n.heads[band][n.chain(band, of)]; at != 0 && looks > 0; at = n.next[band][at-1] {
			looks--
			differ := of.Differing(n.mins[at-1])
			if d := bits.OnesCount64(differ); d <= simhash.MaxDiffering && firstShared(differ) == band {
				visit(int(at-1), d, n.domains[at-1])
			}
		}
	}
}

// firstShared is the first band in which two MinHashes agree, by the bins in which they
// differ; bands: they agree in no band.
func firstShared(differ uint64) int {
	for band := range bands {
		if differ>>(band*bandBins)&(1<<bandBins-1) == 0 {
			return band
		}
	}
	return bands
}
