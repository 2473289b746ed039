package kept

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
)

// fanIn is how many inputs are merged at a time. Each has a buffer of lineBytes, and in S3 a range of
// 512 KiB.
const (
	fanIn     = 64
	lineBytes = 64 << 10
)

// input is a sorted index.
type input interface {
	// open returns a reader of the index.
	open(ctx context.Context) io.ReadCloser
	String() string
}

// object is an index in a bucket.
type object struct {
	bucket blob.Bucket
	key    string
}

func (o object) open(ctx context.Context) io.ReadCloser { return blob.SlowReader(ctx, o.bucket, o.key) }
func (o object) String() string                         { return o.key }

// part is a temporary file with what some inputs were merged to.
type part struct {
	file  *os.File
	bytes int64
}

func (p part) open(context.Context) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(p.file, 0, p.bytes))
}

func (p part) String() string { return "a temporary file" }

// merge writes the lines of all inputs to file, sorted. Of many inputs it merges some at a time to
// temporary files first.
func merge(ctx context.Context, file *os.File, inputs []input) (lines, size int64, err error) {
	var parts []part
	defer func() {
		for _, p := range parts {
			err = errors.Join(err, p.file.Close())
		}
	}()
	for len(inputs) > fanIn {
		var fewer []input
		for some := range slices.Chunk(inputs, fanIn) {
			if len(some) == 1 {
				fewer = append(fewer, some[0])
				continue
			}
			p := part{}
			if p.file, err = scratch.File(); err != nil {
				return 0, 0, err
			}
			parts = append(parts, p)
			if _, p.bytes, err = mergeSome(ctx, p.file, some); err != nil {
				return 0, 0, err
			}
			fewer = append(fewer, p)
		}
		inputs = fewer
	}
	return mergeSome(ctx, file, inputs)
}

// mergeSome merges inputs that are all open at a time.
func mergeSome(ctx context.Context, w io.Writer, inputs []input) (lines, size int64, err error) {
	var open cursors
	defer func() {
		for _, c := range open {
			_ = c.opened.Close()
		}
	}()
	for _, in := range inputs {
		c := newCursor(ctx, in)
		open = append(open, c)
		if err := c.next(); err != nil {
			return 0, 0, err
		}
	}
	heap.Init(&open)
	out := bufio.NewWriterSize(w, lineBytes)
	for len(open) > 0 {
		first := open[0]
		if first.line == nil {
			heap.Pop(&open)
			_ = first.opened.Close()
			continue
		}
		n, err := out.Write(first.line)
		if err != nil {
			return 0, 0, fmt.Errorf("write the merged index: %w", err)
		}
		lines, size = lines+1, size+int64(n)
		if err := first.next(); err != nil {
			return 0, 0, err
		}
		heap.Fix(&open, 0)
	}
	if err := out.Flush(); err != nil {
		return 0, 0, fmt.Errorf("write the merged index: %w", err)
	}
	return lines, size, nil
}

// cursor is at a line of an input.
type cursor struct {
	from input
	// line is valid until the next call of next; nil: the input has ended. former is the line
	// before.
	line, former []byte
	in           *bufio.Reader
	opened       io.Closer
}

func newCursor(ctx context.Context, from input) *cursor {
	opened := from.open(ctx)
	return &cursor{from: from, in: bufio.NewReaderSize(opened, lineBytes), opened: opened}
}

// next goes to the next line. The last line of an index has its end, too.
func (c *cursor) next() (err error) {
	c.former = append(c.former[:0], c.line...)
	c.line, err = c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(c.line) == 0:
		c.line = nil
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("merge %s: its last line is cut", c.from)
	case err != nil:
		return fmt.Errorf("merge %s: %w", c.from, err)
	case bytes.Compare(c.line, c.former) < 0:
		return fmt.Errorf("merge %s: it is not sorted at %.100q", c.from, c.line)
	}
	return nil
}

// cursors are a heap: the cursor with the first line is on top. Those without a line come before, so
// that they leave.
type cursors []*cursor

func (c cursors) Len() int           { return len(c) }
func (c cursors) Less(i, j int) bool { return bytes.Compare(c[i].line, c[j].line) < 0 }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }

// Pop implements heap.Interface.
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
