package erase

import (
	"bytes"
	"context"
	"encoding/json"
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

// Found is the number of places that have a selected page.
func (r Report) Found() int64 { return r.Records + r.Moved + r.Pages + r.Indexes }

// ErrFound means that a selected page is still there.
var ErrFound = errors.New("the search after the erasure finds it again")

// ErrUnfinished means that another erasure is not finished.
var ErrUnfinished = errors.New("another erasure is not finished")

// ErrOtherCopy means that a place of pages has files in which nothing can be erased.
var ErrOtherCopy = errors.New("it is not a file of JSON lines, so that nothing can be erased in it")

// run is a call of Run or Search.
type run struct {
	Options
	entry  entry
	search bool // change nothing
	// young are indexes of files without a selected record.
	young  map[string]bool
	report Report
}

// Search counts where selected pages are, and changes nothing.
func Search(ctx context.Context, o Options) (Report, error) {
	r := &run{Options: o, search: true, young: map[string]bool{}}
	err := r.checkCopies(ctx)
	if err == nil {
		err = r.pass(ctx)
	}
	return r.report, err
}

// Run erases what is selected. It returns what was done, also with an error: the same call again goes on.
func Run(ctx context.Context, o Options) (Report, error) {
	r := &run{Options: o, young: map[string]bool{}}
	if err := r.checkCopies(ctx); err != nil {
		return r.report, err
	}
	if err := r.begin(ctx); err != nil {
		return r.report, err
	}
	if err := r.pass(ctx); err != nil {
		return r.report, err
	}
	if err := r.remake(ctx); err != nil {
		return r.report, err
	}
	left, err := Search(ctx, o)
	switch {
	case err != nil:
		return r.report, fmt.Errorf("search again: %w", err)
	case left.Found() > 0:
		return r.report, fmt.Errorf("%w in %d places: run the command again", ErrFound, left.Found())
	}
	return r.report, r.end(ctx)
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

// remake makes again what was made of other objects before the erasure.
func (r *run) remake(ctx context.Context) error {
	if r.entry.Table {
		if _, err := table.Make(ctx, r.Archive); err != nil {
			return fmt.Errorf("make the table again: %w", err)
		}
	}
	if r.entry.Merged {
		if _, _, err := kept.Merge(ctx, r.Archive); err != nil {
			return fmt.Errorf("merge the indexes again: %w", err)
		}
	}
	return nil
}

const (
	// logFolder has an object for each erasure, and the one that is not finished.
	logFolder      = "erasures/"
	unfinishedName = logFolder + "unfinished.json"
)

// entry describes an erasure. It does not tell what was erased.
type entry struct {
	// Erasure is its name, which tombstones have, and At its time.
	Erasure string    `json:"erasure"`
	At      time.Time `json:"at"`
	// Kind is url, domain or age, and SHA256 that of the URL, the domain or the ages.
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	// Merged and Table: there was a merged index, and a table.
	Merged bool `json:"merged"`
	Table  bool `json:"table"`
	// Resumed: a run before was not finished. Its work is not in the counts of Done.
	Resumed bool    `json:"resumed,omitempty"`
	Done    *Report `json:"done,omitempty"`
}

// begin writes the unfinished erasure, or takes over the same one.
func (r *run) begin(ctx context.Context) (err error) {
	at := r.Now.UTC().Truncate(time.Millisecond)
	r.entry = entry{Erasure: nameOf(at), At: at, Kind: r.Selection.kind, SHA256: r.Selection.sum()}
	if r.entry.Merged, err = kept.HasMerged(ctx, r.Archive); err != nil {
		return err
	}
	for _, err := range r.Archive.List(ctx, table.Folder) {
		if err != nil {
			return err
		}
		r.entry.Table = true
		break
	}
	err = putJSON(ctx, r.Archive.PutNew, unfinishedName, r.entry)
	if !errors.Is(err, blob.ErrExists) {
		return err
	}
	var there entry
	var text bytes.Buffer
	if err := r.Archive.Get(ctx, unfinishedName, &text); err != nil {
		return err
	}
	if err := json.Unmarshal(text.Bytes(), &there); err != nil {
		return fmt.Errorf("read %s: %w", unfinishedName, err)
	}
	if there.Kind != r.entry.Kind || there.SHA256 != r.entry.SHA256 {
		return fmt.Errorf("%w: it was begun at %s (%s), see %s in %s. Run its command again, and then this one",
			ErrUnfinished, there.At.Format(time.RFC3339), there.Kind, unfinishedName, r.Archive)
	}
	there.Resumed = true
	r.entry = there
	return nil
}

// end writes the log. If that was done before a kill, it is done again.
func (r *run) end(ctx context.Context) error {
	r.entry.Done = &r.report
	if err := putJSON(ctx, r.Archive.Put, logFolder+r.entry.Erasure+".json", r.entry); err != nil {
		return err
	}
	return r.Archive.Delete(ctx, unfinishedName)
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
