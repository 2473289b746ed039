package traps

import (
	"maps"
	"slices"
)

// memory is a Store in a map.
type memory map[string]string

func (m memory) Get(key []byte) []byte {
	v, ok := m[string(key)]
	if !ok {
		return nil
	}
	return []byte(v)
}

func (m memory) Set(key, value []byte) { m[string(key)] = string(value) }

func (m memory) Delete(key []byte) { delete(m, string(key)) }

func (m memory) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key >= string(lower) && key < string(upper) && !visit([]byte(key), []byte(m[key])) {
			return
		}
	}
}
