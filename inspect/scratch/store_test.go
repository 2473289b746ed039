package scratch

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What memory holds of a store does not grow with it, and nothing is left of it.
func TestStoreHoldsMoreThanMemory(t *testing.T) {
	const tableBytes, keys = 64 << 10, 40_000
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open("weft-test", tableBytes)
	if err != nil {
		t.Fatal(err)
	}
	key := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	for n := range uint64(keys) {
		s.Set(key(n), key(n*n))
		if held := s.db.Metrics().MemTable.Size; n%1000 == 0 && held > 4*tableBytes {
			t.Fatalf("%d bytes are in memory", held)
		}
	}
	next := uint64(0)
	s.Scan(key(0), key(keys), func(k, v []byte) bool {
		if binary.BigEndian.Uint64(k) != next || binary.BigEndian.Uint64(v) != next*next {
			t.Fatalf("%x has %x, after %d keys", k, v, next)
		}
		s.Delete(k)
		next++
		return true
	})
	if next != keys || s.Get(key(1)) != nil {
		t.Errorf("%d of %d keys, and a deleted one is %x", next, keys, s.Get(key(1)))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A full disk is an error of the store, and no end of the process.
func TestUnwrittenManifestBreaksTheStore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open("weft-test", 256<<10)
	if err != nil {
		t.Fatal(err)
	}
	s.Set([]byte("key"), []byte("value"))
	s.options(256<<10).Logger.Fatalf("MANIFEST flush failed: %v", unix.ENOSPC)
	found := 0
	s.Scan(nil, nil, func(_, _ []byte) bool { found++; return true })
	if s.Get([]byte("key")) != nil || found > 0 {
		t.Errorf("the store goes on: %d keys", found)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), unix.ENOSPC.Error()) {
		t.Errorf("closed: %v", err)
	}
}
