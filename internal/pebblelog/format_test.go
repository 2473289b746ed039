package pebblelog_test

import (
	"slices"
	"strings"
	"testing"

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
