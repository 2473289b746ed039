package duplicates

import (
	"encoding/binary"
	"errors"

	"github.com/weftcrawl/weft/processors/parse/simhash"
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

// hashKey is the key of the first page with a text.
func hashKey(partition int32, hash simhash.Hash) []byte {
	return append(kindKey(partition, kindHash), hash[:]...)
}

// firstKey is the key of the first page of a domain with a text, if another domain
// had it first.
func firstKey(partition int32, hash simhash.Hash, domain uint64) []byte {
	return binary.BigEndian.AppendUint64(append(kindKey(partition, kindFirst), hash[:]...), domain)
}

// representativeKey is the key of the representative with a number.
func representativeKey(partition int32, number int) []byte {
	return binary.BigEndian.AppendUint32(kindKey(partition, kindRepresentative), uint32(number))
}

// followerKey is the key of the last follower of a domain with a SimHash. Its value is
// the key of an entry without the partition.
func followerKey(partition int32, sim, domain uint64) []byte {
	key := binary.BigEndian.AppendUint64(kindKey(partition, kindFollower), sim)
	return binary.BigEndian.AppendUint64(key, domain)
}

// representative is what is stored under it: its MinHash, its domain, and the key
// of its entry without the partition.
type representative struct {
	min    simhash.MinHash
	domain uint64
	entry  []byte
}

func (r representative) append(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint64(r.min.Append(dst), r.domain), r.entry...)
}

func readRepresentative(value []byte) (representative, error) {
	const domain = simhash.MinHashBytes
	if len(value) < domain+8+1+len(simhash.Hash{}) {
		return representative{}, errEntry
	}
	return representative{simhash.ReadMinHash(value), binary.BigEndian.Uint64(value[domain:]), value[domain+8:]}, nil
}

// Flags of a stored entry.
const (
	isDuplicate = 1 << iota
	ofOwnDomain
	hasMinHash
)

// append appends the value under which e is stored; its hash is in the key.
func (e entry) append(dst []byte) []byte {
	var flags byte
	if e.verdict.Duplicate() {
		flags |= isDuplicate
	}
	if e.verdict.Own {
		flags |= ofOwnDomain
	}
	if !e.print.Min.Empty() {
		flags |= hasMinHash
	}
	dst = append(dst, flags, byte(e.verdict.Distance))
	dst = binary.BigEndian.AppendUint64(dst, e.print.Sim)
	dst = binary.BigEndian.AppendUint64(dst, e.domain)
	if !e.print.Min.Empty() {
		dst = e.print.Min.Append(dst)
	}
	dst = appendText(appendText(dst, e.id), e.url)
	if e.verdict.Duplicate() {
		dst = appendText(appendText(dst, e.verdict.ID), e.verdict.URL)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

var errEntry = errors.New("entry of the index of duplicates cannot be read")

// readEntry is the inverse of append.
func readEntry(hash simhash.Hash, value []byte) (entry, error) {
	e := entry{print: simhash.Fingerprint{Hash: hash}}
	if len(value) < 18 {
		return e, errEntry
	}
	flags := value[0]
	e.verdict.Distance, e.verdict.Own = int(value[1]), flags&ofOwnDomain != 0
	e.print.Sim = binary.BigEndian.Uint64(value[2:])
	e.domain = binary.BigEndian.Uint64(value[10:])
	value = value[18:]
	if flags&hasMinHash != 0 {
		if len(value) < simhash.MinHashBytes {
			return e, errEntry
		}
		e.print.Min, value = simhash.ReadMinHash(value), value[simhash.MinHashBytes:]
	}
	texts := []*string{&e.id, &e.url}
	if flags&isDuplicate != 0 {
		texts = append(texts, &e.verdict.ID, &e.verdict.URL)
	}
	for _, s := range texts {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return e, errEntry
		}
		value = value[size:]
		*s, value = string(value[:n]), value[n:]
	}
	if len(value) > 0 || e.print.Min.Empty() != (flags&hasMinHash == 0) || e.verdict.Duplicate() != (flags&isDuplicate != 0) || !e.verdict.Duplicate() && e.verdict != (Verdict{}) {
		return e, errEntry
	}
	return e, nil
}
