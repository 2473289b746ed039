package erase

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// merged forgets the merged indexes if one of them has a selected page.
func (r *run) merged(ctx context.Context) error {
	names, err := keys(ctx, r.Archive, "", kept.IsMerged)
	if err != nil {
		return err
	}
	had := r.report.Indexes
	for _, name := range names {
		has, err := r.has(ctx, name)
		if err != nil {
			return err
		}
		if has {
			r.report.Indexes++
		}
	}
	if r.report.Indexes == had || r.search {
		return nil
	}
	return kept.Forget(ctx, r.Archive)
}

// has tells whether an index, which may be large, has a selected line.
func (r *run) has(ctx context.Context, name string) (bool, error) {
	reader := blob.Reader(ctx, r.Archive, name)
	defer reader.Close()
	in := bufio.NewReaderSize(reader, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if _, selected := r.line(line); selected {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("search %s: %w", name, err)
		}
	}
}

// line reads a line of an index, and tells whether it is selected.
func (r *run) line(text []byte) (line warc.Line, selected bool) {
	for l := range warc.AllLines(text) {
		return l, r.Selection.selects(l.URL, l.Date)
	}
	return line, false
}

// table deletes the files of the table that have a selected page.
func (r *run) table(ctx context.Context) error {
	names, err := keys(ctx, r.Archive, table.Folder, func(string) bool { return true })
	if err != nil {
		return err
	}
	for _, name := range names {
		has, err := table.Has(ctx, r.Archive, name, r.Selection.selects)
		if err == nil && has {
			r.report.Indexes++
			if !r.search {
				err = r.Archive.Delete(ctx, name)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// indexes takes selected lines out of all indexes of files. Those of files that were replaced have none
// any more; the others are of drafts, or of files that are gone. Those of young files are not read.
func (r *run) indexes(ctx context.Context) error {
	names, err := keys(ctx, r.Archive, "", kept.IsIndex)
	if err != nil {
		return err
	}
	for _, name := range names {
		if r.skipped[name] {
			continue
		}
		has, err := r.has(ctx, name)
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		r.report.Indexes++
		if r.search {
			continue
		}
		if err := r.editIndex(ctx, name, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// editIndex takes lines out of an index: those that are selected, and those of erased members. Lines of
// moved members get new places.
func (r *run) editIndex(ctx context.Context, name string, erased []span, places map[int64]moved) error {
	var text bytes.Buffer
	err := r.Archive.Get(ctx, name, &text)
	if errors.Is(err, blob.ErrNotExist) {
		return nil // no exchange has a response, or another program wrote the file
	}
	if err != nil {
		return err
	}
	var lines []string
	for raw := range bytes.Lines(text.Bytes()) {
		l, selected := r.line(raw)
		to, moves := places[l.Offset]
		_, goes := spanAt(erased, l.Offset)
		switch {
		case selected || goes:
		case moves:
			l.Offset, l.Length, l.MIME = to.offset, to.length, to.mime
			lines = append(lines, string(warc.CDXJ([]warc.Entry{l.Entry}, l.File, 0)))
		default:
			lines = append(lines, string(raw))
		}
	}
	if len(lines) == 0 {
		return r.Archive.Delete(ctx, name)
	}
	slices.Sort(lines)
	out := strings.Join(lines, "")
	if out == text.String() {
		return nil
	}
	return r.Archive.Put(ctx, name, strings.NewReader(out), int64(len(out)))
}
