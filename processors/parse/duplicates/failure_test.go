package duplicates

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An index that cannot be read is built anew.
func TestDamage(t *testing.T) {
	log, dir := newMemory(), t.TempDir()
	b := newOwner(t, dir, log)
	b.put(t, 0, page("a", "x.example", 1, 0xff))
	b.close(t)
	manifests, err := filepath.Glob(filepath.Join(dir, "0", "index", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatal(manifests, err)
	}
	for _, name := range manifests {
		if err := os.WriteFile(name, []byte("no manifest"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b = newOwner(t, dir, log)
	defer b.close(t)
	if v := b.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" || log.reads != 1 {
		t.Errorf("%+v, %d read", v, log.reads)
	}
	// And one that turns out to be so while it is used.
	_ = b.store.checked(errEntry)
	if v := b.put(t, 0, page("c", "x.example", 1, 0xff)); v.ID != "a" || log.reads != 3 {
		t.Errorf("%+v, %d read", v, log.reads)
	}
}

func TestTroubleWithTheLogIsTriedAgain(t *testing.T) {
	log := newMemory()
	log.write(0, page("a", "x.example", 1, 0xff))
	b := newOwner(t, t.TempDir(), log)
	defer b.close(t)
	log.err = errors.New("no broker")
	flight, err := b.Judge(t.Context(), 0, page("b", "x.example", 1, 0xff))
	if flight != nil {
		t.Error("judged without the log")
	}
	if !errors.Is(err, log.err) {
		t.Errorf("%v", err)
	}
	log.err = nil
	if v := b.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("%+v", v)
	}
}

// A log that is read in part makes no page an original.
func TestLogReadInPart(t *testing.T) {
	log := newMemory()
	for i, id := range []string{"a", "b", "c"} {
		log.write(0, page(id, "x.example", byte(i+1), 0))
	}
	b := newOwner(t, t.TempDir(), log)
	defer b.close(t)
	log.cut = 2
	if err := b.Load(t.Context(), 0); !errors.Is(err, errCut) {
		t.Error(err)
	}
	flight, err := b.Judge(t.Context(), 0, page("d", "x.example", 3, 0))
	if flight != nil {
		t.Error("judged without the log")
	}
	if !errors.Is(err, errCut) {
		t.Error(err)
	}
	log.cut = 0
	if err := b.Load(t.Context(), 0); err != nil {
		t.Error(err)
	}
	reads := log.reads
	if v := b.put(t, 0, page("d", "x.example", 3, 0)); v.ID != "c" || log.reads != reads || reads != len(log.pages[0])-1 {
		t.Errorf("%+v, %d records read, then %d", v, reads, log.reads-reads)
	}
}

// full is a disk that takes no further file for as long as it is full.
type full struct {
	vfs.FS
	is atomic.Bool
}

func (f *full) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if f.is.Load() {
		return nil, syscall.ENOSPC
	}
	return f.FS.Create(name, category)
}

// On a full disk an index ends all the same; the log makes up for it.
func TestFullDiskHoldsNobodyUp(t *testing.T) {
	log, disk, dir := newMemory(), &full{FS: vfs.NewMem()}, t.TempDir()
	b := newOwnerOn(t, disk, dir, log)
	b.put(t, 0, page("a", "x.example", 1, 0xff))
	disk.is.Store(true)
	if err := b.Close(); !errors.Is(err, errUnflushed) {
		t.Error(err)
	}
	disk.is.Store(false)
	b = newOwnerOn(t, disk, dir, log)
	defer b.close(t)
	if v := b.put(t, 0, page("b", "x.example", 1, 0xff)); v.ID != "a" {
		t.Errorf("%+v", v)
	}
}
