package warc

import (
	"cmp"
	"fmt"
)

// Compression of the members of a file.
type Compression string

// Compressions. Every reader knows gzip. zstd takes less room.
const (
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// Extension is the end of a file's name.
func (c Compression) Extension() string {
	if c == Zstd {
		return ".warc.zst"
	}
	return ".warc.gz"
}

// Options of a File.
type Options struct {
	// Compression, by default Gzip.
	Compression Compression
	// Level of the compression: 1 to 9 of gzip, by default 4; 1 to 4 of zstd, by default 2,
	// which is about level 3 of the reference implementation.
	Level int
}

func (o Options) withDefaults() Options {
	o.Compression = cmp.Or(o.Compression, Gzip)
	if o.Compression == Zstd {
		o.Level = cmp.Or(o.Level, 2)
	}
	o.Level = cmp.Or(o.Level, 4)
	return o
}

// Validate reports options that are out of range.
func (o Options) Validate() error {
	o = o.withDefaults()
	most := map[Compression]int{Gzip: 9, Zstd: 4}[o.Compression]
	switch {
	case most == 0:
		return fmt.Errorf("warc: compression %q: want gzip or zstd", o.Compression)
	case o.Level < 1 || o.Level > most:
		return fmt.Errorf("warc: level %d: want 1 to %d", o.Level, most)
	}
	return nil
}

// Field is a named value.
type Field struct{ Name, Value string }
