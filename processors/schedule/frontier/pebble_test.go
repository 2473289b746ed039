package frontier

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// pebbleStore is the store of production: Pebble without a log.
type pebbleStore struct {
	db     *pebble.DB
	tb     testing.TB
	closed bool
	reads  int // looked up or begun to scan
}

func openPebble(tb testing.TB) *pebbleStore {
	cache := pebble.NewCache(32 << 20)
	defer cache.Unref()
	opts := &pebble.Options{
		Cache: cache, DisableWAL: true, MemTableSize: 4 << 20, MemTableStopWritesThreshold: 4,
		L0CompactionThreshold: 4, L0StopWritesThreshold: 32,
		FormatMajorVersion: pebble.FormatNewest, FS: unsynced{vfs.Default}, Logger: quiet{},
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(tb.TempDir(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	s := &pebbleStore{db: db, tb: tb}
	tb.Cleanup(s.close)
	return s
}

// close may be called before the end of the test.
func (s *pebbleStore) close() {
	if !s.closed {
		s.must(s.db.Close())
	}
	s.closed = true
}

// unsynced is a file system that does not wait for the disk: the store is a
// cache of the ledger.
type unsynced struct{ vfs.FS }

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                { return nil }
func (unsyncedFile) SyncData() error            { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error) { return false, nil }

func (u unsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := u.FS.Create(name, category)
	return unsyncedFile{file}, err
}

type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (s *pebbleStore) must(err error) {
	if err != nil {
		s.tb.Fatal(err)
	}
}

func (s *pebbleStore) Get(key []byte) []byte {
	s.reads++
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	s.must(err)
	value = append([]byte{}, value...)
	s.must(closer.Close())
	return value
}

func (s *pebbleStore) Set(key, value []byte) { s.must(s.db.Set(key, value, pebble.NoSync)) }
func (s *pebbleStore) Delete(key []byte)     { s.must(s.db.Delete(key, pebble.NoSync)) }

func (s *pebbleStore) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	s.reads++
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	s.must(err)
	for ok := it.First(); ok && visit(it.Key(), it.Value()); ok = it.Next() {
	}
	s.must(it.Close())
}
