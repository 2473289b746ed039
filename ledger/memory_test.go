package ledger

import (
	"maps"
	"slices"
)

// memory is a Store in a map.
type memory map[string][]byte

func (m memory) Get(key []byte) []byte { return m[string(key)] }
func (m memory) Set(key, value []byte) { m[string(key)] = slices.Clone(value) }
func (m memory) Delete(key []byte)     { delete(m, string(key)) }
func (m memory) Err() error            { return nil }

func (m memory) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key >= string(lower) && (upper == nil || key < string(upper)) && !visit([]byte(key), m[key]) {
			return
		}
	}
}
