package seen_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// memory is a Store in a map.
type memory map[string][]byte

func (m memory) keys() []string { return slices.Sorted(maps.Keys(m)) }

func (m memory) Get(key []byte) []byte { return m[string(key)] }

func (m memory) Set(key, value []byte) { m[string(key)] = slices.Clone(value) }

func (m memory) Delete(key []byte) { delete(m, string(key)) }

func (m memory) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	for _, key := range m.keys() {
		if key >= string(lower) && key < string(upper) && !visit([]byte(key), m[key]) {
			return
		}
	}
}

// disk is a Store on Pebble as the ledger uses it: no WAL, no sync.
type disk struct {
	t  testing.TB
	db *pebble.DB
}

func openDisk(t testing.TB) disk {
	const cacheBytes = 32 << 20
	options := &pebble.Options{DisableWAL: true, CacheSize: cacheBytes, MemTableSize: 16 << 20, Logger: quiet{t}}
	options.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
	db, err := pebble.Open(t.TempDir(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d := disk{t, db}; d.must(db.Close()) })
	return disk{t, db}
}

func (d disk) must(err error) {
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d disk) Get(key []byte) []byte {
	value, closer, err := d.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	d.must(err)
	value = slices.Clone(value)
	d.must(closer.Close())
	return value
}

func (d disk) Set(key, value []byte) { d.must(d.db.Set(key, value, pebble.NoSync)) }

func (d disk) Delete(key []byte) { d.must(d.db.Delete(key, pebble.NoSync)) }

func (d disk) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	iter, err := d.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	d.must(err)
	for ok := iter.First(); ok && visit(iter.Key(), iter.Value()); ok = iter.Next() {
	}
	d.must(iter.Close())
}

type quiet struct{ t testing.TB }

func (quiet) Infof(string, ...any)             {}
func (q quiet) Errorf(format string, a ...any) { q.t.Errorf(format, a...) }
func (q quiet) Fatalf(format string, a ...any) { q.t.Fatalf(format, a...) }
