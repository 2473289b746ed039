package pebblelog

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// formatMarker is Pebble's name of the marker that says in which format a store is.
const formatMarker = "format-version"

// Begin makes dir, if it does not exist, and says in an empty one that its store begins in the
// newest format. Without that Pebble begins a store in its oldest format and raises it version by
// version. Each version makes a file and removes another, which was a third of all files that
// the start of a crawl makes. A directory that is not empty stays as it is.
func Begin(files vfs.FS, dir string) error {
	entries, err := files.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = files.MkdirAll(dir, 0o755)
	}
	if err != nil || len(entries) > 0 {
		return err
	}
	marker, _, err := atomicfs.LocateMarker(files, dir, formatMarker)
	if err != nil {
		return fmt.Errorf("begin a store in %s: %w", dir, err)
	}
	return errors.Join(marker.Move(pebble.FormatNewest.String()), marker.Close())
}
