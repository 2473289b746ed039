package jsonl

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Compression of the files.
type Compression string

// Compressions. Each Flush ends a frame. Flushing about every second costs little;
// flushing after every record would lose most of the gain.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// extensions are the ends of the names of files.
var extensions = map[Compression]string{None: "", Gzip: ".gz", Zstd: ".zst"}

// CompressionOf is the compression of a file by its name.
func CompressionOf(name string) Compression {
	for c, extension := range extensions {
		if extension != "" && strings.HasSuffix(name, extension) {
			return c
		}
	}
	return None
}

// StateName is the name of the sidecar in a directory of files.
const StateName = "pages.state"

// ManifestName is the name of the object beside files of pages that says how a generation of them was made.
const ManifestName = "generation.json"

// Options of Open. Exactly one of Dir, File and Stream is set.
type Options struct {
	// Dir receives pages-000001.jsonl and so on, and pages.state.
	Dir string
	// File, a regular file, receives everything. Its sidecar is File + ".state".
	File string
	// Stream receives everything. Without StateFile it has no sidecar, and every Open
	// begins at the first record.
	Stream io.Writer
	// StateFile replaces the default place of the sidecar.
	StateFile string
	// Compression, default None.
	Compression Compression
	// MaxBytes of a file in Dir as it is stored; by default 1 GB. Buffers are not
	// counted, so that a file may exceed it by about a megabyte.
	MaxBytes int64
	// Topic identifies the log that offsets refer to, such as "cluster/topic id". It is
	// recorded. Open refuses files of another topic.
	Topic string
	// Sync waits for the disk in each Flush.
	Sync bool
}

func (o Options) withDefaults() Options {
	o.Compression = cmp.Or(o.Compression, None)
	o.MaxBytes = cmp.Or(o.MaxBytes, 1e9)
	if o.StateFile == "" {
		switch {
		case o.Dir != "":
			o.StateFile = filepath.Join(o.Dir, StateName)
		case o.File != "":
			o.StateFile = o.File + ".state"
		}
	}
	return o
}

// Validate reports options that contradict each other or are out of range.
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
	if _, ok := extensions[o.Compression]; !ok {
		return fmt.Errorf("output: compression %q: want none, gzip or zstd", o.Compression)
	}
	if o.MaxBytes < 0 {
		return fmt.Errorf("output: largest file %d bytes: want more than 0", o.MaxBytes)
	}
	return nil
}
