package urls

import (
	"encoding/hex"
	"strconv"

	"github.com/zeebo/xxh3"
)

// Fingerprint is the 128-bit XXH3 hash of a canonical URL, in canonical
// (big-endian) byte order. Among 10^10 URLs two share one with a probability
// of about 10^-19.
func Fingerprint(canonical string) [16]byte {
	return xxh3.HashString128(canonical).Bytes()
}

// PageID names a page: the round-th fetch of a URL, counted from 0. It is 32
// hexadecimal digits, the same for every repeat of the same fetch.
func PageID(canonical string, round uint32) string {
	var array [MaxBytes + 16]byte
	// "#" occurs in no canonical URL, so no two pairs read the same.
	b := append(append(array[:0], canonical...), '#')
	id := xxh3.Hash128(strconv.AppendUint(b, uint64(round), 10)).Bytes()
	return hex.EncodeToString(id[:])
}
