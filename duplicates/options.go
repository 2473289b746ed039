package duplicates

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of an Index. The zero value is not valid: begin with DefaultOptions.
type Options struct {
	// Dir is where the index is kept. It belongs to one incarnation of parsed:
	// offsets of another one mean nothing.
	Dir string
	// CacheBytes of blocks that were read, MemtableBytes of what was not written
	// to disk yet.
	CacheBytes, MemtableBytes int64
	// FlushBytes of the log may have been read since the index was last on disk:
	// that is what a process that was killed reads again.
	FlushBytes int64
	// MaxLooks bounds how many of the representatives that share a band are looked
	// at, the newest. Only pages that very many domains have share one with so many.
	MaxLooks int
	// Keep is how long a partition stays on disk that is somebody else's.
	Keep time.Duration

	fs  vfs.FS           // of tests; nil: the machine's
	now func() time.Time // time.Now but in tests
}

// DefaultOptions are those of the loop, but for Dir.
func DefaultOptions() Options {
	return Options{CacheBytes: 32 << 20, MemtableBytes: 8 << 20, FlushBytes: 64 << 20, MaxLooks: 16 << 10, Keep: time.Hour, now: time.Now}
}

// Validate reports every option that is out of range.
func (o Options) Validate() error {
	var errs []error
	if o.Dir == "" {
		errs = append(errs, errors.New("duplicates options: no directory"))
	}
	for _, bound := range []struct {
		name         string
		value, least int64
	}{
		{"cache bytes", o.CacheBytes, 0},
		{"memtable bytes", o.MemtableBytes, 64 << 10},
		{"flush bytes", o.FlushBytes, 1},
		{"max looks", int64(o.MaxLooks), 0},
		{"nanoseconds that partitions are kept", int64(o.Keep), 0},
	} {
		if bound.value < bound.least {
			errs = append(errs, fmt.Errorf("duplicates options: %s is %d, below %d", bound.name, bound.value, bound.least))
		}
	}
	return errors.Join(errs...)
}
