package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

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
		ReadOnly: true, ErrorIfNotExists: true, FormatMajorVersion: pebble.FormatNewest, FS: noSync{vfs.Default}, Logger: complaints{new(disk)},
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return fmt.Errorf("%w: it does not open: %w", errNoCheckpoint, err)
	}
	return nil
}
