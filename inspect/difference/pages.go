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

// Pages calls visit for each page of a set: the lines of all objects whose names end with .jsonl,
// .jsonl.gz or .jsonl.zst, by name. It ends with the first error.
func Pages(ctx context.Context, bucket blob.Bucket, visit func(Page) error) error {
	var names []string
	for object, err := range bucket.List(ctx, "") {
		if err != nil {
			return err
		}
		plain := strings.TrimSuffix(strings.TrimSuffix(object.Key, ".gz"), ".zst")
		if strings.HasSuffix(plain, ".jsonl") {
			names = append(names, object.Key)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there are no files of pages (.jsonl) in %s", bucket)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := pagesOf(ctx, bucket, name, visit); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func pagesOf(ctx context.Context, bucket blob.Bucket, name string, visit func(Page) error) (err error) {
	reader := blob.Reader(ctx, bucket, name)
	defer reader.Close()
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
		p, err := readPage(lines.Bytes())
		if err == nil {
			err = visit(p)
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
