package broker

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A file of a log, whatever a crash or a disk made of it, is cut in front of the
// first batch that is not whole, or left to kfake. It never grows.
func FuzzScan(f *testing.F) {
	batch := make([]byte, batchHeaderBytes)
	batch[batchLengthAt+3], batch[batchMagicAt] = batchHeaderBytes-12, 2
	f.Add(batch, true)
	f.Add(slices.Concat(batch, batch), false)
	f.Add(batch[:40], true)
	f.Add([]byte{}, true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, log []byte, last bool) {
		name := filepath.Join(dir, "0.dat")
		if err := os.WriteFile(name, log, 0o600); err != nil {
			t.Fatal(err)
		}
		s, snap := segment{Size: int64(len(log))}, snapshot{}
		if err := scan(dir, &s, &snap, last); err != nil {
			if !errors.Is(err, errNotOurs) {
				t.Fatal(err)
			}
			return
		}
		info, err := os.Stat(name)
		if err != nil || info.Size() != s.Size || s.Size > int64(len(log)) || !last && s.Size != int64(len(log)) {
			t.Fatalf("%d bytes of %d, and the file has %d: %v", s.Size, len(log), info.Size(), err)
		}
		kept := s
		if err := scan(dir, &kept, &snapshot{}, last); err != nil || kept.Size != s.Size {
			t.Fatalf("scanned again: %d of %d bytes, %v", kept.Size, s.Size, err)
		}
	})
}
