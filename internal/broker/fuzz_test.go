package broker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A file of a log, whatever a crash or a disk made of it, is cut in front of the
// first batch that is not whole, or left to kfake. It never grows, and only the last
// file of a log is cut.
func FuzzMend(f *testing.F) {
	batch := make([]byte, batchHeaderBytes)
	batch[batchLengthAt+3], batch[batchMagicAt] = batchHeaderBytes-12, 2
	binary.BigEndian.PutUint32(batch[batchCRCAt:], crc32.Checksum(batch[batchAttributesAt:], castagnoli))
	f.Add(batch, true)
	f.Add(slices.Concat(batch, batch), false)
	f.Add(batch[:40], true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, log []byte, last bool) {
		p := logDir{dir: t.TempDir()}
		name, after := p.segment(segment{}), p.segment(segment{BaseOffset: 1 << 40})
		if err := os.WriteFile(name, log, 0o600); err != nil {
			t.Fatal(err)
		}
		if !last {
			if err := os.WriteFile(after, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.rebuildSnapshot(); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(name)
		if err != nil && !(last && errors.Is(err, fs.ErrNotExist)) {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(log, kept) || !last && len(kept) < len(log) {
			t.Fatalf("%d bytes of %d", len(kept), len(log))
		}
		if err := os.Remove(filepath.Join(p.dir, snapshotName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := p.rebuildSnapshot(); err != nil {
			t.Fatal(err)
		}
		if again, _ := os.ReadFile(name); !bytes.Equal(again, kept) {
			t.Fatalf("mended again: %d of %d bytes", len(again), len(kept))
		}
	})
}
