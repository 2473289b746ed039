package simhash

import (
	"encoding/hex"
	"fmt"
	"math/bits"

	"github.com/zeebo/xxh3"
)

const (
	// MaxDistance is the largest distance of two texts that are nearly the same.
	MaxDistance = 3
	// MinWords is the least number of words of a text that can be nearly the same as
	// another one, if it is not the grid of a month.
	MinWords = 16
)

// Hash is xxh3 of a text, 128 bits, big-endian.
type Hash [16]byte

// String is h in 32 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash is the inverse of Hash.String.
func ParseHash(s string) (h Hash, err error) {
	if len(s) != hex.EncodedLen(len(h)) {
		return h, fmt.Errorf("content hash %q has not %d digits", s, hex.EncodedLen(len(h)))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return h, fmt.Errorf("content hash %q: %w", s, err)
	}
	return h, nil
}

// Fingerprint is the similarity fingerprint of a text. The zero value is the fingerprint of an empty text.
type Fingerprint struct {
	Hash Hash
	// Sim is the SimHash; 0: there are less than MinWords words and no grid of a month, or
	// there is a table.
	Sim uint64
	// Min is the MinHash of texts that have a SimHash.
	Min MinHash
}

// Of returns the fingerprint of a text, and how many words make its features.
func Of(text string) (p Fingerprint, words int) {
	if text == "" {
		return Fingerprint{}, 0
	}
	p.Hash = xxh3.HashString128(text).Bytes()
	var s scanner
	s.read(text)
	if !s.isTable(s.words) && (s.words >= MinWords || s.words > 0 && s.isGrid()) {
		p.Sim, p.Min = s.sim(), s.minHash()
	}
	return p, s.words
}

// Empty tells whether there is no text. No text is the same as another one.
func (p Fingerprint) Empty() bool { return p.Hash == Hash{} }

// Distance returns how far apart two texts are: 0 if they are the same, 1 to MaxDistance if
// they are nearly the same. The MinHashes decide whether they are nearly the same. The
// distance is the number of bits in which the SimHashes differ, but at least 1 and at most
// MaxDistance. alike is false for other texts.
func (p Fingerprint) Distance(other Fingerprint) (distance int, alike bool) {
	switch {
	case p.Empty() || other.Empty():
		return 0, false
	case p.Hash == other.Hash:
		return 0, true
	case !p.Min.alike(other.Min):
		return 0, false
	}
	return min(max(bits.OnesCount64(p.Sim^other.Sim), 1), MaxDistance), true
}
