// Package scratch is a temporary store for a fold. A few keys are in memory, more are in a
// temporary directory, so that a question about a crawl takes no more memory than the crawl
// itself.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/weftcrawl/weft/internal/pebblelog"
)

// Store is a kv.Store in a temporary directory. Its visitors may write to it. Close returns
// its first error.
type Store struct {
	db  *pebble.DB
	dir string
	err atomic.Pointer[error]
}

// Open makes an empty store; name is in the name of its directory. A table in memory has
// tableBytes; there are four at most.
func Open(name string, tableBytes uint64) (*Store, error) {
	dir, err := os.MkdirTemp("", name+"-*")
	if err != nil {
		return nil, fmt.Errorf("make a scratch store: %w", err)
	}
	s := &Store{dir: dir}
	if s.db, err = pebble.Open(dir, s.options(tableBytes)); err != nil {
		return nil, errors.Join(fmt.Errorf("open a scratch store: %w", err), os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Store) options(tableBytes uint64) *pebble.Options {
	options := &pebble.Options{
		DisableWAL: true, MemTableSize: tableBytes, FormatMajorVersion: pebble.FormatNewest,
		Logger: pebblelog.Logger(s.fail),
		// Pebble repeats a failed write for ever, and stalls when all tables are full. Before that, the
		// store has an error and takes no more.
		MemTableStopWritesThreshold: 4,
		EventListener: &pebble.EventListener{
			BackgroundError: s.fail,
			DataCorruption:  func(found pebble.DataCorruptionInfo) { s.fail(found.Details) },
		},
	}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return options
}

// Close removes the store. It returns its first error.
func (s *Store) Close() error {
	return errors.Join(s.Err(), s.db.Close(), os.RemoveAll(s.dir))
}

// Err is the first error of the store.
func (s *Store) Err() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *Store) fail(err error) {
	if err != nil {
		err := fmt.Errorf("scratch store: %w", err)
		s.err.CompareAndSwap(nil, &err)
	}
}

// Get returns a copy of the value of key, nil when absent and after an error.
func (s *Store) Get(key []byte) []byte {
	if s.err.Load() != nil {
		return nil
	}
	value, closer, err := s.db.Get(key)
	if err != nil {
		if !errors.Is(err, pebble.ErrNotFound) {
			s.fail(err)
		}
		return nil
	}
	out := append([]byte{}, value...)
	s.fail(closer.Close())
	return out
}

// Set stores value under key.
func (s *Store) Set(key, value []byte) {
	if s.err.Load() == nil {
		s.fail(s.db.Set(key, value, pebble.NoSync))
	}
}

// Delete removes key.
func (s *Store) Delete(key []byte) {
	if s.err.Load() == nil {
		s.fail(s.db.Delete(key, pebble.NoSync))
	}
}

// Scan calls visit for the keys of [lower, upper) in order until it returns false; for
// none after an error.
func (s *Store) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	if s.err.Load() != nil {
		return
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: slices.Clone(lower), UpperBound: slices.Clone(upper)})
	if err != nil {
		s.fail(err)
		return
	}
	for ok := it.First(); ok && visit(it.Key(), it.Value()); ok = it.Next() {
	}
	s.fail(it.Close())
}
