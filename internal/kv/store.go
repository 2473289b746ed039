// Package kv defines what the state of one partition is kept in: an ordered map of bytes.
// Packages that decide take a Store and know no disk. Package ledger has one on disk.
package kv

import (
	"bytes"
	"iter"
)

// Store is the ordered key-value state of one partition. After its first error, which it
// keeps, reads find nothing and writes do nothing. The ledger checks for an error after
// every decision and fold, before the event is written.
type Store interface {
	// Get returns the value of key, nil when absent. The slice is the caller's.
	Get(key []byte) []byte
	// Set stores value under key. Neither is retained.
	Set(key, value []byte)
	// Delete removes key.
	Delete(key []byte)
	// Scan calls visit for the keys of [lower, upper) in ascending order until
	// it returns false. The slices are valid only during the call, and visit
	// does not write to the store.
	Scan(lower, upper []byte, visit func(key, value []byte) bool)
}

// Range returns the keys of [lower, upper) in ascending order, with their values. The
// slices are valid until the next one. The loop does not write to the store.
func Range(s Store, lower, upper []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) { s.Scan(lower, upper, yield) }
}

// Below returns the keys that begin with a prefix, as Range does. Some byte of the prefix
// is not 0xff.
func Below(s Store, prefix []byte) iter.Seq2[[]byte, []byte] {
	upper := bytes.TrimRight(bytes.Clone(prefix), "\xff")
	upper[len(upper)-1]++
	return Range(s, prefix, upper)
}
