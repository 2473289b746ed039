package frontier

import (
	"encoding/binary"
	"math"
)

// index is an ordered index of the whole partition: entries PREFIX NUMBER8
// SUFFIX without values. Entries leave mostly at the front, and a store that
// marks deletions leaves traces there which a scan would step over again and
// again. Therefore it remembers where to begin; that is a cache, and it holds
// as long as all writes go through it.
type index struct {
	prefix byte
	// floor is a lower bound of the numbers; exact tells that there is an
	// entry at floor, or, with noEntry, that there is none at all.
	floor uint64
	exact bool
}

const noEntry = math.MaxUint64

func (x *index) key(number uint64, suffix ...byte) []byte {
	key := make([]byte, 0, 9+len(suffix))
	key = binary.BigEndian.AppendUint64(append(key, x.prefix), number)
	return append(key, suffix...)
}

func (x *index) set(s Store, number uint64, suffix ...byte) {
	s.Set(x.key(number, suffix...), nil)
	if number < x.floor {
		x.floor, x.exact = number, true
	}
}

func (x *index) remove(s Store, number uint64, suffix ...byte) {
	s.Delete(x.key(number, suffix...))
	if number <= x.floor {
		x.exact = false
	}
}

// first returns the smallest number, or noEntry.
func (x *index) first(s Store) uint64 {
	if !x.exact {
		first := uint64(noEntry)
		x.scan(s, x.floor, func(number uint64, _ []byte) bool {
			first = number
			return false
		})
		x.floor, x.exact = first, true
	}
	return x.floor
}

// each calls visit for the entries up to limit in order, until it returns
// false. The suffix is valid only during the call.
func (x *index) each(s Store, limit uint64, visit func(number uint64, suffix []byte) bool) {
	if x.floor > limit || x.first(s) > limit {
		return
	}
	x.scan(s, x.floor, func(number uint64, suffix []byte) bool {
		return number <= limit && visit(number, suffix)
	})
}

// scan calls visit for the entries from number lower on.
func (x *index) scan(s Store, lower uint64, visit func(number uint64, suffix []byte) bool) {
	s.Scan(x.key(lower), []byte{x.prefix + 1}, func(key, _ []byte) bool {
		if len(key) < 9 {
			return true
		}
		return visit(binary.BigEndian.Uint64(key[1:9]), key[9:])
	})
}
