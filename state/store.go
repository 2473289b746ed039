// Package state says what decisions are kept in: the state of one partition is an
// ordered map of bytes. Packages that decide ask for a Store and know no disk;
// package ledger has one.
package state

// Store is the ordered key-value state of one partition. It keeps its first
// error; after that reads find nothing and writes do nothing, and the ledger
// checks it after every decision and fold, before the event is written.
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
