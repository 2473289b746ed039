package pebblelog_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/weftcrawl/weft/internal/pebblelog"
)

// made is a file system in memory that notes the names of files that are made.
type made struct {
	vfs.FS
	names *[]string
}

func (m made) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	*m.names = append(*m.names, name)
	return m.FS.Create(name, c)
}

func TestBeginSavesPebbleTheSteps(t *testing.T) {
	var names []string
	files := made{vfs.NewMem(), &names}
	if err := pebblelog.Begin(files, "store"); err != nil {
		t.Fatal(err)
	}
	options := func() *pebble.Options {
		return &pebble.Options{FS: files, FormatMajorVersion: pebble.FormatNewest, Logger: pebblelog.Logger(func(error) {})}
	}
	db, err := pebble.Open("store", options())
	if err != nil {
		t.Fatal(err)
	}
	if db.FormatMajorVersion() != pebble.FormatNewest {
		t.Errorf("the store is in format %v", db.FormatMajorVersion())
	}
	if err := db.Set([]byte("k"), []byte("v"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	markers := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.Contains(name, "format-version") })
	if len(markers) != 1 {
		t.Errorf("%d markers of formats were made: %q", len(markers), markers)
	}

	// A store that has begun stays as it is.
	if err := pebblelog.Begin(files, "store"); err != nil {
		t.Fatal(err)
	}
	if db, err = pebble.Open("store", options()); err != nil {
		t.Fatal(err)
	}
	closeWhole(t, db)
}

// full is a file system that makes no MANIFEST while the disk is full.
type full struct {
	vfs.FS
	is *atomic.Bool
}

func (f full) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.is.Load() && strings.Contains(name, "MANIFEST") {
		return nil, syscall.ENOSPC
	}
	return f.FS.Create(name, c)
}

// A store without a log is opened on a full disk, or Open says what is wrong: it does not wait for ever.
func TestOpenOnAFullDisk(t *testing.T) {
	files := full{vfs.NewMem(), new(atomic.Bool)}
	open := func() (*pebble.DB, error) {
		if err := pebblelog.Begin(files, "store"); err != nil {
			return nil, err
		}
		return pebble.Open("store", &pebble.Options{
			FS: files, FormatMajorVersion: pebble.FormatNewest, DisableWAL: true, Logger: pebblelog.Logger(func(error) {}),
			EventListener: &pebble.EventListener{BackgroundError: func(error) {}},
		})
	}
	db, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Set([]byte("k"), []byte("v"), pebble.NoSync), db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
	files.is.Store(true)
	opened := make(chan *pebble.DB, 1)
	go func() {
		db, err := open()
		if err != nil {
			t.Log(err)
		}
		opened <- db
	}()
	select {
	case db = <-opened:
	case <-time.After(10 * time.Second):
		t.Error("Open waits for room")
		files.is.Store(false)
		db = <-opened
	}
	files.is.Store(false)
	if db == nil {
		return
	}
	closeWhole(t, db)
}

// closeWhole closes a store that still has what was written.
func closeWhole(t *testing.T, db *pebble.DB) {
	t.Helper()
	value, closer, err := db.Get([]byte("k"))
	if err != nil || string(value) != "v" {
		t.Errorf("the store has %q, %v", value, err)
	} else {
		_ = closer.Close()
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
