package why

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// scratch is a store for a fold that is thrown away: the frontier's keys in
// order, in memory while they are few and in a temporary directory beyond that,
// so that looking at a crawl takes no more memory than running it.
type scratch struct {
	db  *pebble.DB
	dir string
	err error
}

// scratchMemory is what a scratch store keeps in memory.
const scratchMemory = 64 << 20

func openScratch() (*scratch, error) {
	dir, err := os.MkdirTemp("", "weft-why-*")
	if err != nil {
		return nil, fmt.Errorf("make a scratch store: %w", err)
	}
	db, err := pebble.Open(dir, &pebble.Options{
		DisableWAL: true, MemTableSize: scratchMemory, FormatMajorVersion: pebble.FormatNewest, Logger: silent{},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open a scratch store: %w", err), os.RemoveAll(dir))
	}
	return &scratch{db: db, dir: dir}, nil
}

// close drops the store. It returns the first error of its life.
func (s *scratch) close() error {
	return errors.Join(s.err, s.db.Close(), os.RemoveAll(s.dir))
}

func (s *scratch) fail(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("scratch store: %w", err)
	}
}

// Get returns a copy of the value of key, nil when absent.
func (s *scratch) Get(key []byte) []byte {
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
func (s *scratch) Set(key, value []byte) { s.fail(s.db.Set(key, value, pebble.NoSync)) }

// Delete removes key.
func (s *scratch) Delete(key []byte) { s.fail(s.db.Delete(key, pebble.NoSync)) }

// Scan calls visit for the keys of [lower, upper) in order until it returns
// false.
func (s *scratch) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: slices.Clone(lower), UpperBound: slices.Clone(upper)})
	if err != nil {
		s.fail(err)
		return
	}
	for ok := it.First(); ok && visit(it.Key(), it.Value()); ok = it.Next() {
	}
	s.fail(it.Close())
}

// silent drops Pebble's own log lines: what matters comes back as an error.
type silent struct{}

func (silent) Infof(string, ...any)              {}
func (silent) Errorf(string, ...any)             {}
func (silent) Fatalf(format string, args ...any) { panic("pebble: " + fmt.Sprintf(format, args...)) }
