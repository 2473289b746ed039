package simhash

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// MinHash samples the runs of words of a text. The runs are hashed into 64 bins; of each bin
// the two low bits of its least hash are kept. Bit i of the first word is the low bit of bin
// i, bit i of the second word the other one. The zero value is the MinHash of no text.
//
// The share of the bins in which two texts agree estimates their Jaccard similarity J, the
// share of all their runs that both have. The share is J + (1-J)/4, because the bits of
// different hashes agree once in four times.
type MinHash [2]uint64

// Bins is the number of bins of a MinHash.
const Bins = 64

// Empty tells whether there is no MinHash.
func (m MinHash) Empty() bool { return m == MinHash{} }

// Differing has a bit for each bin in which two texts differ.
func (m MinHash) Differing(other MinHash) uint64 { return (m[0] ^ other[0]) | (m[1] ^ other[1]) }

// MaxDiffering is the largest number of bins in which two texts differ that are nearly the
// same. It corresponds to a Jaccard similarity of about 0.81.
const MaxDiffering = 9

// alike tells whether the texts are nearly the same.
func (m MinHash) alike(other MinHash) bool {
	return !m.Empty() && !other.Empty() && bits.OnesCount64(m.Differing(other)) <= MaxDiffering
}

// Append appends m in 16 bytes.
func (m MinHash) Append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, m[0]), m[1])
}

// MinHashBytes is the number of bytes that Append appends.
const MinHashBytes = 16

// ReadMinHash is the inverse of Append; b has MinHashBytes at least.
func ReadMinHash(b []byte) MinHash {
	return MinHash{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// String is m in 32 hexadecimal digits.
func (m MinHash) String() string { return hex.EncodeToString(m.Append(nil)) }

// ParseMinHash is the inverse of MinHash.String.
func ParseMinHash(s string) (m MinHash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != MinHashBytes {
		return m, fmt.Errorf("%q is not a MinHash of %d hexadecimal digits", s, hex.EncodedLen(MinHashBytes))
	}
	return ReadMinHash(b), nil
}

// minima are the least hash of each bin; 0: the bin has no hash.
type minima struct {
	least [Bins]uint64
	sum   uint64 // of all hashes
}

// binBits is how many bits of a hash, the highest, choose its bin. The others are compared.
const binBits = 6

func (m *minima) add(hash uint64) {
	m.sum += hash
	bin, value := hash>>(64-binBits), hash|1
	if least := m.least[bin]; least == 0 || value < least {
		m.least[bin] = value
	}
}

// minHash is the sample of what was added, at least one hash. An empty bin takes the hash of
// another bin, which the number of the empty bin chooses, so that all texts choose alike
// (Shrivastava, Optimal densification for fast and accurate minwise hashing, 2017).
func (m *minima) minHash() (hash MinHash) {
	for bin := range m.least {
		from := uint64(bin)
		for try := uint64(1); m.least[from] == 0; try++ {
			from = mix(uint64(bin), try) >> (64 - binBits)
		}
		low := mix(m.least[from], uint64(bin))
		hash[0] |= (low & 1) << bin
		hash[1] |= (low >> 1 & 1) << bin
	}
	if hash.Empty() {
		hash[0] = 1
	}
	return hash
}

// whole is one sample of everything that was added: one hash more or less gives another
// sample.
func (m *minima) whole() MinHash {
	var one minima
	one.add(mix(m.sum, Bins))
	return one.minHash()
}
