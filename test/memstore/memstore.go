// Package memstore is an ordered key-value store in memory, for tests of packages that
// keep their state in a store.
package memstore

import (
	"bytes"
	"maps"
	"slices"
	"sort"
)

// Store is an empty store when zero. It is not safe for concurrent use.
type Store struct {
	keys   []string // sorted
	values map[string][]byte
}

// Get returns a copy of the value of key, nil when absent.
func (s *Store) Get(key []byte) []byte {
	value, ok := s.values[string(key)]
	if !ok {
		return nil
	}
	return append([]byte{}, value...)
}

// Set stores a copy of value under key.
func (s *Store) Set(key, value []byte) {
	if s.values == nil {
		s.values = map[string][]byte{}
	}
	if _, ok := s.values[string(key)]; !ok {
		s.keys = slices.Insert(s.keys, sort.SearchStrings(s.keys, string(key)), string(key))
	}
	s.values[string(key)] = append([]byte{}, value...)
}

// Delete removes key.
func (s *Store) Delete(key []byte) {
	if _, ok := s.values[string(key)]; !ok {
		return
	}
	at := sort.SearchStrings(s.keys, string(key))
	s.keys = slices.Delete(s.keys, at, at+1)
	delete(s.values, string(key))
}

// Scan calls visit for the keys of [lower, upper) in ascending order until it
// returns false.
func (s *Store) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	for _, key := range s.keys[sort.SearchStrings(s.keys, string(lower)):] {
		if key >= string(upper) || !visit([]byte(key), slices.Clone(s.values[key])) {
			return
		}
	}
}

// Err is nil: a map does not fail.
func (s *Store) Err() error { return nil }

// Clone returns an independent copy. A value is never changed, so both share it.
func (s *Store) Clone() *Store { return &Store{keys: slices.Clone(s.keys), values: maps.Clone(s.values)} }

// Equal tells whether both have the same content, or a key for which they differ.
func (s *Store) Equal(t *Store) (key string, equal bool) {
	for i, key := range s.keys {
		if i == len(t.keys) || t.keys[i] > key {
			return key, false
		}
		if t.keys[i] < key {
			return t.keys[i], false
		}
		if !bytes.Equal(s.values[key], t.values[key]) {
			return key, false
		}
	}
	if len(t.keys) > len(s.keys) {
		return t.keys[len(s.keys)], false
	}
	return "", true
}

// Keys returns all keys in order.
func (s *Store) Keys() []string { return slices.Clone(s.keys) }
