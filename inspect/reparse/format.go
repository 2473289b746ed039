package reparse

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weftcrawl/weft/processors/archive/jsonl"
)

// Format of the files of a generation.
type Format string

// Formats.
const (
	// JSONLines has a record of parsed in each line.
	JSONLines Format = "jsonl"
	// Parquet has the columns of Row.
	Parquet Format = "parquet"
	// WET is WARC with the text of each page, and WAT with its metadata, as those of Common Crawl
	// (https://commoncrawl.org/blog/web-archiving-file-formats-explained).
	WET Format = "wet"
	WAT Format = "wat"
	// Objects has two objects for each page: what is known of it, and its body.
	Objects Format = "objects"
)

// Compression of the files of a generation. Empty is the usual one of the format: no compression of
// JSON lines, and gzip of WET and WAT. Columns of Parquet always have zstd.
type Compression string

// Compressions.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// withDefaults fills in the format and its usual compression.
func (o Options) withDefaults() Options {
	o.Format = cmp.Or(o.Format, JSONLines)
	switch o.Format {
	case JSONLines:
		o.Compression = cmp.Or(o.Compression, None)
	case WET, WAT, Objects:
		o.Compression = cmp.Or(o.Compression, Gzip)
	case Parquet:
		o.Compression = cmp.Or(o.Compression, Zstd)
	}
	return o
}

// Validate reports an option that cannot work.
func (o Options) Validate() error {
	o = o.withDefaults()
	warc := o.Format == WET || o.Format == WAT
	switch {
	case warc && o.Compression == None:
		return fmt.Errorf("files of %s are compressed, with gzip or zstd", o.Format)
	case warc && o.Partition != "":
		return fmt.Errorf("files of %s have no partitions", o.Format)
	case o.Format == Objects && (o.Compression != Gzip || o.Partition != ""):
		return errors.New("objects have folders of their own, and bodies are always compressed with gzip")
	case o.Format == Parquet && o.Compression != Zstd:
		return errors.New("the columns of Parquet are always compressed with zstd")
	case !slices.Contains([]Partition{"", ByDay, ByDomain, ByDayAndDomain}, o.Partition):
		return fmt.Errorf("pages are divided by day, by domain, or by day,domain, and not by %s", o.Partition)
	case !slices.Contains([]Format{JSONLines, Parquet, WET, WAT, Objects}, o.Format):
		return fmt.Errorf("there is no format %q", o.Format)
	}
	return nil
}

// extension is the end of a file's name.
func (o *Options) extension() string {
	packed := map[Compression]string{Gzip: ".gz", Zstd: ".zst"}[o.Compression]
	switch o.Format {
	case WET, WAT:
		return ".warc." + string(o.Format) + packed
	case Parquet:
		return ".parquet"
	default:
		return ".jsonl" + packed
	}
}

// encoder writes pages in a format.
type encoder interface {
	add(p page) error
	close() error
}

// newEncoder returns an encoder of pages of a file of the archive.
func (o *Options) newEncoder(w io.Writer, s *source) (encoder, error) {
	switch o.Format {
	case Parquet:
		return newColumns(w), nil
	case WET, WAT:
		return o.newDerived(w, s)
	default:
		out, err := jsonl.NewWriter(w, jsonl.Compression(o.Compression))
		return lines{out}, err
	}
}

// lines are JSON lines.
type lines struct{ io.WriteCloser }

func (l lines) add(p page) error {
	_, err := l.Write(append(p.line, '\n'))
	return err
}

func (l lines) close() error { return l.Close() }
