package output

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// Compression of the files.
type Compression string

// Compressions. Frames end with each Flush: flushing every second or so costs
// little, flushing after every record would cost most of the gain.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// extension of a file's name.
func (c Compression) extension() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	default:
		return ""
	}
}

// Options of Open. Exactly one of Dir, File and Stream is set.
type Options struct {
	// Dir receives pages-000001.jsonl and so on, and pages.state.
	Dir string
	// File, a regular one, receives everything; File + ".state" stands beside
	// it.
	File string
	// Stream receives everything, uncompressed unless Compression says
	// otherwise. Without StateFile a consumer of it starts from nothing.
	Stream io.Writer
	// StateFile replaces the default place of the sidecar.
	StateFile string
	// Compression, default None.
	Compression Compression
	// MaxBytes of a file in Dir as it is stored. What buffers hold back is not
	// measured, so a file may exceed it by a megabyte or so. Default 1 GB.
	MaxBytes int64
	// Topic identifies the log that offsets refer to, for instance
	// "cluster/topic id". It is recorded; Open refuses another one.
	Topic string
	// Sync waits for the disk in each Flush.
	Sync bool
}

// withDefaults returns o with its zero fields set.
func (o Options) withDefaults() Options {
	if o.Compression == "" {
		o.Compression = None
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 1e9
	}
	if o.StateFile == "" {
		switch {
		case o.Dir != "":
			o.StateFile = filepath.Join(o.Dir, "pages.state")
		case o.File != "":
			o.StateFile = o.File + ".state"
		}
	}
	return o
}

// Validate reports options that cannot be followed.
func (o Options) Validate() error {
	o = o.withDefaults()
	targets := 0
	for _, set := range []bool{o.Dir != "", o.File != "", o.Stream != nil} {
		if set {
			targets++
		}
	}
	if targets != 1 {
		return errors.New("output: want exactly one of a directory, a file and a stream")
	}
	switch o.Compression {
	case None, Gzip, Zstd:
	default:
		return fmt.Errorf("output: compression %q: want none, gzip or zstd", o.Compression)
	}
	if o.MaxBytes < 0 {
		return fmt.Errorf("output: largest file %d bytes: want more than 0", o.MaxBytes)
	}
	return nil
}
