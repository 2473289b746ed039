package erase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
	"github.com/weftcrawl/weft/internal/blob"
)

// Options of Run and Search.
type Options struct {
	Archive blob.Bucket
	// Pages are the places of files of pages: those of a crawl that does not run, and generations.
	Pages     []blob.Bucket
	Selection Selection
	// Now is the time of the erasure.
	Now time.Time
	// Patience is how long Run watches an erasure that was not finished for signs of life before it goes
	// on with it; 0: DefaultPatience. Below 0 it does not watch, and gives no sign.
	Patience time.Duration
}

// Report counts what was found and, by Run, erased.
type Report struct {
	// Records are those of WARC files: responses, requests, exchanges without a response, and metadata.
	Records int64 `json:"records"`
	// Moved are records that referred to an erased one, and stay.
	Moved int64 `json:"moved"`
	// Pages are lines of files of pages.
	Pages int64 `json:"pages"`
	// Files of the archive and of pages were replaced, and Deleted ones had nothing else.
	Files   int64 `json:"files"`
	Deleted int64 `json:"deleted_files"`
	// Indexes, tables and merged indexes had it.
	Indexes int64 `json:"indexes"`
	// Read are the files of the archive that were read.
	Read int64 `json:"read_files"`
}

func (r *Report) add(other Report) {
	r.Records += other.Records
	r.Moved += other.Moved
	r.Pages += other.Pages
	r.Files += other.Files
	r.Deleted += other.Deleted
	r.Indexes += other.Indexes
	r.Read += other.Read
}

// Found is the number of places that have a selected page.
func (r Report) Found() int64 { return r.Records + r.Moved + r.Pages + r.Indexes }

// ErrFound means that a selected page is still there.
var ErrFound = errors.New("the search after the erasure finds it again")

// ErrOtherCopy means that a place of pages has files in which nothing can be erased.
var ErrOtherCopy = errors.New("it is not a file of JSON lines, so that nothing can be erased in it")

// run is one erasure, or one search.
type run struct {
	Options
	entry  entry
	search bool // change nothing
	// skipped are indexes of files without a selected record.
	skipped map[string]bool
	report  Report
	begun   time.Time
}

// Search counts where selected pages are, and changes nothing.
func Search(ctx context.Context, o Options) (Report, error) {
	r := &run{Options: o, search: true, skipped: map[string]bool{}}
	err := r.checkPlaces(ctx)
	if err == nil {
		err = r.pass(ctx)
	}
	return r.report, err
}

// Run erases what is selected. It returns what was done, also with an error: the same call again goes on.
// An erasure by age that was not finished had its own ages and its own time: another one by age finishes
// it first.
func Run(ctx context.Context, o Options) (all Report, err error) {
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	for {
		r := &run{Options: o, skipped: map[string]bool{}, begun: time.Now()}
		err := r.do(ctx)
		all.add(r.report)
		if err != nil || !r.entry.Resumed || r.entry.Kind != byAge || o.Selection.keep.shortest() == 0 {
			return all, err
		}
	}
}

func (r *run) do(ctx context.Context) error {
	if err := r.checkPlaces(ctx); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	alive, stop := r.heartbeat(ctx)
	err := r.work(alive)
	if cause := context.Cause(alive); err != nil && cause != nil {
		err = cause
	}
	stop()
	if err == nil {
		err = r.end(ctx)
	}
	return err
}

// work erases, and searches again.
func (r *run) work(ctx context.Context) error {
	if err := r.pass(ctx); err != nil {
		return err
	}
	if err := r.remake(ctx); err != nil {
		return err
	}
	if err := r.sweep(ctx); err != nil {
		return err
	}
	left, err := Search(ctx, r.Options)
	switch {
	case err != nil:
		return fmt.Errorf("search again: %w", err)
	case left.Found() > 0:
		return fmt.Errorf("%w in %d places: run the command again", ErrFound, left.Found())
	}
	return nil
}

// sweep removes what killed processes left of their uploads. No listing shows it, and it may have pages.
// Younger remains may be of an upload that still runs.
func (r *run) sweep(ctx context.Context) error {
	for _, bucket := range append([]blob.Bucket{r.Archive}, r.Pages...) {
		if err := bucket.Sweep(ctx, "", r.Now.Add(-blob.DeadUploadAge)); err != nil {
			return fmt.Errorf("remove the remains of killed processes from %s: %w", bucket, err)
		}
	}
	return nil
}

// pass goes through everything. What is made of other objects comes before them.
func (r *run) pass(ctx context.Context) error {
	for _, step := range []func(context.Context) error{r.merged, r.table, r.files, r.indexes, r.pages} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remake makes again what was made of other objects, and was deleted because it had a selected page.
func (r *run) remake(ctx context.Context) error {
	files, err := r.tableFiles(ctx)
	if err != nil {
		return err
	}
	if files < r.entry.Table {
		if _, err := table.Make(ctx, r.Archive); err != nil {
			return fmt.Errorf("make the table again: %w", err)
		}
	}
	merged, err := kept.HasMerged(ctx, r.Archive)
	if err == nil && r.entry.Merged && !merged {
		if _, _, err = kept.Merge(ctx, r.Archive); err != nil {
			err = fmt.Errorf("merge the indexes again: %w", err)
		}
	}
	return err
}

func (r *run) tableFiles(ctx context.Context) (int, error) {
	names, err := keys(ctx, r.Archive, table.Folder, func(string) bool { return true })
	return len(names), err
}

// keys lists the objects of a bucket that are wanted, sorted.
func keys(ctx context.Context, bucket blob.Bucket, prefix string, wanted func(string) bool) (all []string, err error) {
	for object, err := range bucket.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if wanted(object.Key) {
			all = append(all, object.Key)
		}
	}
	slices.Sort(all)
	return all, nil
}
