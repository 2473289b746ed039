package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/internal/pebblelog"
)

// mayBeDamaged tells whether the checkpoint can be the cause of an error of opening a copy of it. A
// lack of disk space or of file handles does not.
func mayBeDamaged(err error) bool {
	lacks := []error{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE}
	return !slices.ContainsFunc(lacks, func(lack error) bool { return errors.Is(err, lack) })
}

// noSync is a file system that leaves writing back to the kernel. A killed
// process loses nothing by it. After a power cut a checkpoint may be damaged: its
// sizes and block checksums show it, and the ledger is replayed.
type noSync struct{ vfs.FS }

type noSyncFile struct{ vfs.File }

func (noSyncFile) Sync() error                             { return nil }
func (noSyncFile) SyncData() error                         { return nil }
func (noSyncFile) SyncTo(int64) (fullSync bool, err error) { return false, nil }

func wrapFile(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

func (fs noSync) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return wrapFile(fs.FS.Create(name, c))
}

func (fs noSync) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return wrapFile(fs.FS.OpenReadWrite(name, c, opts...))
}

func (fs noSync) OpenDir(name string) (vfs.File, error) {
	return wrapFile(fs.FS.OpenDir(name))
}

func (fs noSync) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return wrapFile(fs.FS.ReuseForWrite(oldname, newname, c))
}

// checkTable verifies the checksums of all blocks if path is a table of Pebble.
// An error that wraps errNoCheckpoint says that it is damaged.
func checkTable(path string) (err error) {
	if filepath.Ext(path) != tableExt {
		return nil
	}
	file, err := vfs.Default.Open(path)
	if err != nil {
		return fmt.Errorf("open table: %w", err)
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return errors.Join(fmt.Errorf("open table: %w", err), file.Close())
	}
	table, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{})
	if err != nil {
		return errors.Join(fmt.Errorf("%w: table %s: %w", errNoCheckpoint, filepath.Base(path), err), readable.Close())
	}
	if err = table.ValidateBlockChecksums(); err != nil {
		err = fmt.Errorf("%w: table %s: %w", errNoCheckpoint, filepath.Base(path), err)
	}
	return errors.Join(err, table.Close())
}

// checkOpens opens a copy of a store and changes nothing in it.
func checkOpens(dir string) error {
	db, err := pebble.Open(dir, &pebble.Options{
		ReadOnly: true, ErrorIfNotExists: true, FormatMajorVersion: pebble.FormatNewest, FS: noSync{vfs.Default},
		Logger: pebblelog.Logger(func(error) {}),
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return fmt.Errorf("%w: it does not open: %w", errNoCheckpoint, err)
	}
	return nil
}
