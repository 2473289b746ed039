package frontier

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/weftcrawl/weft/internal/kv"
)

// index is an ordered index of the whole partition: entries PREFIX NUMBER8 SUFFIX without
// values. Most entries are deleted at the front. The store keeps traces of deleted entries
// there, and each scan would skip them again. Therefore the index remembers where to begin. That
// is a cache. It is right as long as all writes go through the index.
type index struct {
	prefix byte
	// floor is a lower bound of the keys, nil if no bound is known. exact tells that floor is the
	// key of the first entry, or that it is above all keys if the index is empty.
	floor []byte
	exact bool
}

// noEntry is what first returns for an empty index.
const noEntry = math.MaxUint64

// numbered is the length of a key without its suffix.
const numbered = 9

func (x *index) key(number uint64, suffix ...byte) []byte {
	key := make([]byte, 0, numbered+len(suffix))
	key = binary.BigEndian.AppendUint64(append(key, x.prefix), number)
	return append(key, suffix...)
}

func (x *index) end() []byte { return []byte{x.prefix + 1} }

func (x *index) set(s kv.Store, number uint64, suffix ...byte) {
	key := x.key(number, suffix...)
	s.Set(key, nil)
	if x.floor != nil && bytes.Compare(key, x.floor) < 0 {
		x.floor, x.exact = key, true
	}
}

func (x *index) remove(s kv.Store, number uint64, suffix ...byte) {
	key := x.key(number, suffix...)
	s.Delete(key)
	if bytes.Equal(key, x.floor) {
		x.exact = false
	}
}

// first returns the smallest number, or noEntry.
func (x *index) first(s kv.Store) uint64 {
	if !x.exact {
		lower := x.floor
		if lower == nil {
			lower = []byte{x.prefix}
		}
		x.floor, x.exact = x.end(), true
		for key := range kv.Range(s, lower, x.end()) {
			x.floor = bytes.Clone(key)
			break
		}
	}
	if len(x.floor) < numbered {
		return noEntry
	}
	return binary.BigEndian.Uint64(x.floor[1:numbered])
}

// upTo calls visit with the suffixes of the entries up to a number in order, until it
// returns false. A suffix is valid only during the call.
func (x *index) upTo(s kv.Store, number uint64, visit func(suffix []byte) bool) {
	if x.first(s) <= number {
		x.scan(s, x.floor, x.key(number+1), visit)
	}
}

// beyond calls visit for the entries above a number.
func (x *index) beyond(s kv.Store, number uint64, visit func(suffix []byte) bool) {
	x.scan(s, x.key(number+1), x.end(), visit)
}

func (x *index) scan(s kv.Store, lower, upper []byte, visit func(suffix []byte) bool) {
	s.Scan(lower, upper, func(key, _ []byte) bool { return visit(key[numbered:]) })
}
