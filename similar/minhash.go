package similar

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// MinHash samples the runs of words of a text: of each of 64 bins, into which the
// runs are hashed, the two low bits of the bin's least hash. Bit i of the first word is
// the low one of bin i, bit i of the second the other. The zero value is that of no
// text.
//
// The share of the bins in which two texts agree estimates their Jaccard similarity J,
// the share of the runs of either that both have: it is J + (1-J)/4, since the bits of
// different hashes agree once in four times.
type MinHash [2]uint64

// Bins is the number of bins of a MinHash.
const Bins = 64

// Empty tells whether there is none.
func (m MinHash) Empty() bool { return m == MinHash{} }

// Differing has a bit for each bin in which two texts differ.
func (m MinHash) Differing(other MinHash) uint64 { return (m[0] ^ other[0]) | (m[1] ^ other[1]) }

// MaxDiffering is the most bins in which two texts that are nearly the same differ:
// by estimate a Jaccard similarity of 0.81.
const MaxDiffering = 9

// alike tells whether the texts are nearly the same.
func (m MinHash) alike(other MinHash) bool {
	return !m.Empty() && !other.Empty() && bits.OnesCount64(m.Differing(other)) <= MaxDiffering
}

// Append appends m in 16 bytes.
func (m MinHash) Append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, m[0]), m[1])
}

// MinHashBytes is how long what Append appends is.
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
		return m, fmt.Errorf("%q is no MinHash of %d hexadecimal digits", s, hex.EncodedLen(MinHashBytes))
	}
	return ReadMinHash(b), nil
}

// minima are the least hash of each bin, 0 where there is none.
type minima struct {
	least [Bins]uint64
	sum   uint64 // of all hashes
}

// binBits of a hash, the highest, choose its bin; the others are compared.
const binBits = 6

func (m *minima) add(hash uint64) {
	m.sum += hash
	bin, value := hash>>(64-binBits), hash|1
	if least := m.least[bin]; least == 0 || value < least {
		m.least[bin] = value
	}
}

// minHash is the sample of what was added, which is not nothing. A bin to which no hash
// came takes what another has, chosen by the number of the bin: so do those of other
// texts, in the same order (Shrivastava, Optimal densification for fast and accurate
// minwise hashing, 2017).
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

// whole is a sample of all that was added in one: another hash more, or less, gives
// another.
func (m *minima) whole() MinHash {
	var one minima
	one.add(mix(m.sum, Bins))
	return one.minHash()
}
