package pebblelog

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
)

// formatMarker is Pebble's name of the marker that says in which format a store is.
const formatMarker = "format-version"

// Begin makes dir, if it does not exist, and says in an empty one that its store begins in the
// newest format. Without that Pebble begins a store in its oldest format and raises it version by
// version. Each version makes a file and removes another, which was a third of all files that
// the start of a crawl makes. A directory that is not empty stays as it is, without empty logs (dropLogs).
func Begin(files vfs.FS, dir string) error {
	entries, err := files.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = files.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return dropLogs(files, dir, entries)
	}
	marker, _, err := atomicfs.LocateMarker(files, dir, formatMarker)
	if err != nil {
		return fmt.Errorf("begin a store in %s: %w", dir, err)
	}
	return errors.Join(marker.Move(pebble.FormatNewest.String()), marker.Close())
}

// dropLogs removes empty logs. A store without a log (DisableWAL) has an empty one all the same, and
// Pebble flushes after it has read a log. If that flush cannot write the MANIFEST, mostly because the disk
// is full, Pebble repeats it for ever, also when there is room again, and Open does not return.
func dropLogs(files vfs.FS, dir string, entries []string) error {
	for _, name := range entries {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		path := files.PathJoin(dir, name)
		info, err := files.Stat(path)
		if err == nil && info.Size() <= emptyLog {
			err = files.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("begin a store in %s: %w", dir, err)
		}
	}
	return nil
}

// emptyLog is the size of a log without a write: it may have the end that Close writes. A write takes more.
const emptyLog = 11
