package difference

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftcrawl/weft/internal/blob"
)

// maxLine bounds a line: the largest record is 16 MiB.
const maxLine = 32 << 20

// IsFile tells whether an object has pages: its name ends with .jsonl, .jsonl.gz or .jsonl.zst.
func IsFile(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"), ".jsonl")
}

// Pages calls visit for each page of a set, file by file, in the order of their names. It ends with the
// first error.
func Pages(ctx context.Context, bucket blob.Bucket, visit func(Page) error) error {
	var names []string
	for object, err := range bucket.List(ctx, "") {
		if err != nil {
			return err
		}
		if IsFile(object.Key) {
			names = append(names, object.Key)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there are no files of pages (.jsonl) in %s", bucket)
	}
	slices.Sort(names)
	for _, name := range names {
		err := Lines(ctx, bucket, name, func(line []byte) error {
			p, err := readPage(line)
			if err != nil {
				return err
			}
			return visit(p)
		})
		if err != nil {
			return err
		}
	}
	return nil
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
	switch {
	case strings.HasSuffix(name, ".gz"):
		if in, err = gzip.NewReader(reader); errors.Is(err, io.EOF) {
			return nil // a crawl has begun the file
		}
	case strings.HasSuffix(name, ".zst"):
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
