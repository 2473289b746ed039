package difference

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
)

// Pages calls visit for each page of a set, file by file, in the order of their names. It ends with the
// first error.
func Pages(ctx context.Context, bucket blob.Bucket, visit func(Page) error) error {
	var names []string
	for object, err := range bucket.List(ctx, "") {
		if err != nil {
			return err
		}
		if jsonl.IsFile(object.Key) {
			names = append(names, object.Key)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there are no files of pages (.jsonl) in %s", bucket)
	}
	slices.Sort(names)
	for _, name := range names {
		err := jsonl.Lines(ctx, bucket, name, func(line []byte) error {
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
