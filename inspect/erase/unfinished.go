package erase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/supervise"
)

const (
	// logFolder has an object for each erasure, and the one that is not finished.
	logFolder      = "erasures/"
	unfinishedName = logFolder + "unfinished.json"
)

// Errors of Run.
var (
	// ErrUnfinished means that another erasure is not finished.
	ErrUnfinished = errors.New("another erasure is not finished")
	// ErrBusy means that another process erases at the moment.
	ErrBusy = errors.New("another process erases at the moment")
)

// DefaultPatience is long enough to tell a slow process from one that has died.
const DefaultPatience = 10 * time.Second

// entry describes an erasure. It does not tell what was erased.
type entry struct {
	// Erasure is its name, which tombstones have, and At its time.
	Erasure string    `json:"erasure"`
	At      time.Time `json:"at"`
	// Kind is url, domain or age, and SHA256 that of the URL, the domain or the ages.
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	// Keep are the ages.
	Keep *Keep `json:"keep,omitempty"`
	// Merged: there was a merged index. Table: so many files of the table.
	Merged bool `json:"merged"`
	Table  int  `json:"table_files"`
	// Owner is the run that does it. Beat changes while it lives.
	Owner string `json:"owner"`
	Beat  int    `json:"beat"`
	// Resumed: a run before was not finished. Its work is not in the counts of Done.
	Resumed bool       `json:"resumed,omitempty"`
	Done    *Report    `json:"done,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
}

// nameOf is the name of an erasure. Names are in the order of their times.
func nameOf(at time.Time) string { return at.UTC().Format(nameFormat) }

const nameFormat = "20060102T150405.000Z"

// begin writes the unfinished erasure, or takes over one that was not finished.
func (r *run) begin(ctx context.Context) (err error) {
	at := r.Now.UTC().Truncate(time.Millisecond)
	r.entry = entry{
		Erasure: nameOf(at), At: at, Kind: r.Selection.kind, SHA256: r.Selection.sum(), Keep: r.Selection.keep, Owner: uuid.NewString(),
	}
	if r.entry.Merged, err = kept.HasMerged(ctx, r.Archive); err != nil {
		return err
	}
	if r.entry.Table, err = r.tableFiles(ctx); err != nil {
		return err
	}
	err = putJSON(ctx, r.Archive.PutNew, unfinishedName, r.entry)
	if errors.Is(err, blob.ErrExists) {
		err = r.takeOver(ctx)
	}
	return err
}

// takeOver makes an erasure that was not finished that of this run, if no other run does it.
func (r *run) takeOver(ctx context.Context) error {
	there, err := r.unfinished(ctx)
	if err != nil {
		return err
	}
	if there.Kind != r.entry.Kind || there.Keep == nil && there.SHA256 != r.entry.SHA256 {
		command := "its command"
		if there.Kind == byAge {
			command = "weft archive expire --keep forever"
		}
		return fmt.Errorf("%w: it was begun at %s (%s), see %s in %s. Run %s, and then this command again",
			ErrUnfinished, there.At.Format(time.RFC3339), there.Kind, unfinishedName, r.Archive, command)
	}
	if err := pause(ctx, r.Patience); err != nil {
		return err
	}
	now, err := r.unfinished(ctx)
	if err == nil && (now.Owner != there.Owner || now.Beat != there.Beat) {
		err = ErrBusy
	}
	if err != nil {
		return err
	}
	now.Owner, now.Resumed = r.entry.Owner, true
	r.entry = now
	if now.Keep != nil {
		r.Selection = Older(*now.Keep, now.At)
	}
	if err := putJSON(ctx, r.Archive.Put, unfinishedName, now); err != nil {
		return err
	}
	if err := pause(ctx, r.Patience/4); err != nil { // of several, the last one has it
		return err
	}
	return r.checkOwner(ctx)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// unfinished reads the unfinished erasure. If there is none, another process has just finished it.
func (r *run) unfinished(ctx context.Context) (entry, error) {
	there, err := readEntry(ctx, r.Archive, unfinishedName)
	if errors.Is(err, blob.ErrNotExist) {
		err = ErrBusy
	}
	return there, err
}

// readEntry reads an entry of the log, or the unfinished one.
func readEntry(ctx context.Context, archive blob.Bucket, name string) (e entry, err error) {
	var text bytes.Buffer
	if err := archive.Get(ctx, name, &text); err != nil {
		return e, err
	}
	if err := json.Unmarshal(text.Bytes(), &e); err != nil {
		return e, fmt.Errorf("read %s: %w", name, err)
	}
	return e, nil
}

// checkOwner returns ErrBusy if another run has taken over the erasure.
func (r *run) checkOwner(ctx context.Context) error {
	there, err := r.unfinished(ctx)
	if err == nil && there.Owner != r.entry.Owner {
		err = ErrBusy
	}
	return err
}

// heartbeat shows that the run lives, until stop is called. From now on each change of the archive asks first
// whether the erasure is still that of this run. The context ends when it is not.
func (r *run) heartbeat(ctx context.Context) (_ context.Context, stop func()) {
	r.Archive = owned{r.Archive, r.checkOwner}
	if r.Patience < 0 {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	beat, beats := r.entry, sync.WaitGroup{}
	beats.Go(func() {
		end(supervise.Every(ctx, r.Patience/5, func() error {
			beat.Beat++
			return putJSON(ctx, r.Archive.Put, unfinishedName, beat)
		}))
	})
	return ctx, func() {
		end(nil)
		beats.Wait()
	}
}

// owned is an archive that is only changed by the run which has the erasure.
type owned struct {
	blob.Bucket
	checkOwner func(context.Context) error
}

func (o owned) Put(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := o.checkOwner(ctx); err != nil {
		return err
	}
	return o.Bucket.Put(ctx, key, body, size)
}

func (o owned) PutNew(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := o.checkOwner(ctx); err != nil {
		return err
	}
	return o.Bucket.PutNew(ctx, key, body, size)
}

func (o owned) Delete(ctx context.Context, key string) error {
	if err := o.checkOwner(ctx); err != nil {
		return err
	}
	return o.Bucket.Delete(ctx, key)
}

// end writes the log. If that was done before a kill, it is done again.
func (r *run) end(ctx context.Context) error {
	ended := r.Now.Add(time.Since(r.begun)).UTC().Truncate(time.Millisecond)
	r.entry.Done, r.entry.Ended = &r.report, &ended
	if err := putJSON(ctx, r.Archive.Put, logFolder+r.entry.Erasure+".json", r.entry); err != nil {
		return err
	}
	return r.Archive.Delete(ctx, unfinishedName)
}

func putJSON(ctx context.Context, put func(context.Context, string, io.Reader, int64) error, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the erasure: %w", err)
	}
	return put(ctx, name, bytes.NewReader(text), int64(len(text)))
}
