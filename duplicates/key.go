package duplicates

import (
	"encoding/binary"

	"github.com/weftcrawl/weft/similar"
)

// Kinds of keys, after the partition.
const (
	kindNext           = 'n'
	kindHash           = 'h'
	kindFirst          = 'd'
	kindRepresentative = 'm'
	kindFollower       = 's'
	// Before there were MinHashes, representatives were found by their SimHashes, under
	// a kind of their own, which is removed: what has no MinHash is found by its text
	// only.
	kindOldRepresentative = 'r'
)

// kindKey begins the keys of a kind in a partition.
func kindKey(partition int32, kind byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 32), uint32(partition)), kind)
}

// hashKey is that of the first page with a text.
func hashKey(partition int32, hash similar.Hash) []byte {
	return append(kindKey(partition, kindHash), hash[:]...)
}

// readHashKey is the inverse.
func readHashKey(key []byte) (hash similar.Hash, err error) {
	if len(key) != 5+len(hash) {
		return hash, errEntry
	}
	copy(hash[:], key[5:])
	return hash, nil
}

// firstKey is that of the first page of a domain with a text, if another domain
// had it first.
func firstKey(partition int32, hash similar.Hash, domain uint64) []byte {
	return binary.BigEndian.AppendUint64(append(kindKey(partition, kindFirst), hash[:]...), domain)
}

// representativeKey is that of a representative by its number.
func representativeKey(partition int32, number int) []byte {
	return binary.BigEndian.AppendUint32(kindKey(partition, kindRepresentative), uint32(number))
}

// followerKey is that of the last follower of a domain with a SimHash. Its value is
// the key of an entry without the partition.
func followerKey(partition int32, sim, domain uint64) []byte {
	key := binary.BigEndian.AppendUint64(kindKey(partition, kindFollower), sim)
	return binary.BigEndian.AppendUint64(key, domain)
}

// representative is what is stored under it: its MinHash, its domain, and the key
// of its entry without the partition.
type representative struct {
	min    similar.MinHash
	domain uint64
	entry  []byte
}

func (r representative) append(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(r.min.Append(dst), r.domain), r.entry...)
}

// readRepresentative is the inverse; the entry shares memory with value.
func readRepresentative(value []byte) (representative, error) {
	const domain = similar.MinHashBytes
	if len(value) < domain+8+1+len(similar.Hash{}) {
		return representative{}, errEntry
	}
	return representative{similar.ReadMinHash(value), binary.BigEndian.Uint64(value[domain:]), value[domain+8:]}, nil
}
