package erase

import (
	"context"
	"errors"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
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
	found := errors.New("found")
	err := r.eachLine(ctx, name, func(raw []byte) error {
		if _, selected := r.line(raw); selected {
			return found
		}
		return nil
	})
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
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
