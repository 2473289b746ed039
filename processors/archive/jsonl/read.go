package jsonl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftcrawl/weft/internal/blob"
)

// maxLine bounds a line: the largest record is 16 MiB.
const maxLine = 32 << 20

// IsFile tells whether an object has pages: its name ends with .jsonl, .jsonl.gz or .jsonl.zst.
func IsFile(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, extensions[CompressionOf(name)]), ".jsonl")
}

// Lines calls visit for each line of a file of pages. It ends with the first error. visit does not keep
// the line.
func Lines(ctx context.Context, bucket blob.Bucket, name string, visit func(line []byte) error) (err error) {
	reader := blob.Reader(ctx, bucket, name)
	defer reader.Close()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	var in io.Reader = reader
	switch CompressionOf(name) {
	case Gzip:
		if in, err = gzip.NewReader(reader); errors.Is(err, io.EOF) {
			return nil // a crawl has begun the file
		}
	case Zstd:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(reader, zstd.WithDecoderConcurrency(1)); err == nil {
			defer d.Close()
			in = d
		}
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		if err := visit(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}
