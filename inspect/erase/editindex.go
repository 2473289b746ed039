package erase

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// editIndex takes lines out of an index: those that are selected, and those of erased members. Lines of
// moved members get new places. An index may have a million lines, so that the new one is made on the local disk.
func (r *run) editIndex(ctx context.Context, name string, erased []span, places map[int64]moved) error {
	draft, err := scratch.File()
	if err != nil {
		return err
	}
	defer draft.Close()
	out := &indexWriter{out: bufio.NewWriterSize(draft, 64<<10)}
	changed := false
	err = r.eachLine(ctx, name, func(raw []byte) error {
		l, selected := r.line(raw)
		to, moves := places[l.Offset]
		_, goes := spanAt(erased, l.Offset)
		switch {
		case selected || goes:
			changed = true
			return nil
		case moves:
			changed = true
			l.Offset, l.Length, l.MIME = to.offset, to.length, to.mime
			raw = warc.CDXJ([]warc.Entry{l.Entry}, l.File, 0)
		}
		return out.add(raw)
	})
	if errors.Is(err, blob.ErrNotExist) {
		return nil // no exchange has a response, or another program wrote the file
	}
	if err = errors.Join(err, out.end()); err != nil || !changed {
		return err
	}
	if out.bytes == 0 {
		return r.Archive.Delete(ctx, name)
	}
	return r.Archive.Put(ctx, name, io.NewSectionReader(draft, 0, out.bytes), out.bytes)
}

// eachLine calls visit with each line of an index. visit may keep the line.
func (r *run) eachLine(ctx context.Context, name string, visit func(raw []byte) error) error {
	reader := blob.Reader(ctx, r.Archive, name)
	defer reader.Close()
	in := bufio.NewReaderSize(reader, 64<<10)
	for {
		raw, err := in.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if len(raw) > 0 {
			if err := visit(raw); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// indexWriter writes the lines of a sorted index. A line with a new place has its URL and its time as
// before, so that only lines with the same URL and time are sorted again.
type indexWriter struct {
	out   *bufio.Writer
	same  [][]byte // lines with the same URL and time, which are not written yet
	bytes int64
}

func (w *indexWriter) add(line []byte) error {
	if len(w.same) > 0 && !bytes.Equal(urlAndTime(w.same[0]), urlAndTime(line)) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.same = append(w.same, line)
	return nil
}

// urlAndTime is a line without its last field, a JSON object.
func urlAndTime(line []byte) []byte {
	url, rest, _ := bytes.Cut(line, []byte(" "))
	time, _, _ := bytes.Cut(rest, []byte(" "))
	return line[:min(len(line), len(url)+1+len(time))]
}

func (w *indexWriter) flush() error {
	slices.SortFunc(w.same, bytes.Compare)
	for _, line := range w.same {
		n, err := w.out.Write(line)
		if w.bytes += int64(n); err != nil {
			return fmt.Errorf("write an index: %w", err)
		}
	}
	w.same = w.same[:0]
	return nil
}

// end writes out everything.
func (w *indexWriter) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write an index: %w", err)
	}
	return nil
}
