package duplicates

import (
	"encoding/binary"
	"math/bits"

	"github.com/weftcrawl/weft/similar"
)

// Kinds of keys, after the partition.
const (
	kindNext  = 'n'
	kindHash  = 'h'
	kindFirst = 'd'
	kindBand  = 'b'
)

// bands that a SimHash is cut into: one more than bits may differ.
const bands = similar.MaxDistance + 1

const bandBits = 64 / bands

// kindKey begins the keys of a kind in a partition.
func kindKey(partition int32, kind byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 40), uint32(partition)), kind)
}

// hashKey is that of the first page with a text.
func hashKey(partition int32, hash similar.Hash) []byte {
	return append(kindKey(partition, kindHash), hash[:]...)
}

// firstKey is that of the first page of a domain with a text, if another domain
// had it first.
func firstKey(partition int32, hash similar.Hash, domain uint64) []byte {
	return binary.BigEndian.AppendUint64(append(kindKey(partition, kindFirst), hash[:]...), domain)
}

// bandKey is that of a SimHash and a domain by one of its bands. Its first
// sharedBytes are those of all that share the band, its first ownBytes of those
// of the same domain.
func bandKey(partition int32, band int, sim, domain uint64) []byte {
	turned := bits.RotateLeft64(sim, band*bandBits)
	key := append(kindKey(partition, kindBand), byte(band))
	key = binary.BigEndian.AppendUint16(key, uint16(turned>>48))
	key = binary.BigEndian.AppendUint32(key, uint32(domain))
	return append(key, byte(turned>>40), byte(turned>>32), byte(turned>>24), byte(turned>>16), byte(turned>>8), byte(turned))
}

const (
	sharedBytes = 4 + 1 + 1 + 2
	ownBytes    = sharedBytes + 4
	bandKeySize = ownBytes + 6
)

// simOf is the SimHash in a key of a band.
func simOf(key []byte, band int) uint64 {
	turned := uint64(binary.BigEndian.Uint16(key[sharedBytes-2:])) << 48
	for i, b := range key[ownBytes:bandKeySize] {
		turned |= uint64(b) << (40 - 8*i)
	}
	return bits.RotateLeft64(turned, -band*bandBits)
}

// after is the least key that is greater than all that begin with prefix, which
// is not all 0xff.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; ; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
}
