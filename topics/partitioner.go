package topics

import (
	"hash/fnv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Partitioner places records as goka does: FNV-1a of the key, then sarama's
// signed modulo. Records without a key go anywhere.
//
// Of the hashers that franz-go has for sarama only SaramaCompatHasher agrees:
// SaramaHasher and the default partitioner do not, and would give a domain two
// owners. A test holds this against goka itself.
func Partitioner() kgo.Partitioner {
	return kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))
}

func fnv32a(key []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(key) // never fails
	return h.Sum32()
}

// Partition returns the partition, of n, in which records with this key lie.
func Partition(key string, n int32) int32 {
	const offset, prime = 2166136261, 16777619 // FNV-1a, 32 bits
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * prime
	}
	p := int32(h) % n
	if p < 0 {
		return -p
	}
	return p
}
