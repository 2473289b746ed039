package erase

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// files erases in the files of exchanges and of metadata.
func (r *run) files(ctx context.Context) error {
	names, err := keys(ctx, r.Archive, "", func(key string) bool { return archive.IsFile(key) || archive.IsMetadata(key) })
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.file(ctx, name); err != nil {
			return fmt.Errorf("erase from %s: %w", name, err)
		}
	}
	return nil
}

// file erases in one file. The file is replaced or deleted last.
func (r *run) file(ctx context.Context, name string) error {
	var begin bytes.Buffer
	if err := r.Archive.GetRange(ctx, name, 0, warc.HeadBytes, &begin); err != nil {
		return err
	}
	index := "" // another program wrote the file
	if head, own := warc.ReadHead(begin.Bytes()); own {
		if archive.IsFile(name) {
			index = archive.IndexName(head)
		}
		if young := r.Selection.young; !young.IsZero() && !head.Oldest.Truncate(time.Second).Before(young) {
			r.skipped[index] = true
			return nil
		}
	}
	// A run that was killed may have replaced the index and not the file: then it says nothing.
	if index != "" && r.Selection.indexed && !r.entry.Resumed {
		has, err := r.has(ctx, index)
		if err != nil && !errors.Is(err, blob.ErrNotExist) {
			return err
		}
		if err == nil && !has {
			return nil
		}
	}
	f, err := r.scan(ctx, name)
	if err != nil {
		return err
	}
	r.report.Read++
	r.report.Records += int64(len(f.erased))
	r.report.Moved += int64(len(f.moved))
	switch {
	case len(f.erased)+len(f.moved) == 0 || r.search:
		return nil
	case f.left == 0:
		r.report.Deleted++
		if index != "" {
			if err := r.Archive.Delete(ctx, index); err != nil {
				return err
			}
		}
		return r.Archive.Delete(ctx, name)
	}
	r.report.Files++
	return r.replace(ctx, name, index, f)
}

// scanned is what a file has. A file may have a million records, so it keeps only where they are.
type scanned struct {
	// erased are the members that go, and moved are the revisits that refer to one of them, and stay. Both
	// are in the order of the file.
	erased, moved []span
	// originals are the responses among erased, by the keys of their ids.
	originals map[idKey]span
	// left is the number of records that stay, without warcinfo. members are all members.
	left, members int
}

// span is the place of a member in a file.
type span struct{ offset, length int64 }

// spanAt finds the span with an offset. The spans are in the order of the file.
func spanAt(spans []span, offset int64) (span, bool) {
	i, found := slices.BinarySearchFunc(spans, offset, func(s span, offset int64) int { return cmp.Compare(s.offset, offset) })
	if !found {
		return span{}, false
	}
	return spans[i], true
}

// idKey stands for the id of a record. The id itself is a part of the record's header, and would keep all of it in memory.
type idKey [16]byte

func keyOf(id string) idKey {
	sum := sha256.Sum256([]byte(id))
	return idKey(sum[:])
}

// scan reads a whole file.
func (r *run) scan(ctx context.Context, name string) (scanned, error) {
	reader := blob.Reader(ctx, r.Archive, name)
	defer reader.Close()
	f := scanned{originals: map[idKey]span{}}
	for m, err := range warc.Members(reader) {
		if err != nil {
			return f, err
		}
		f.members++
		r.sort(m, &f)
	}
	return f, nil
}

// sort adds a member to those that go, that move or that stay.
func (r *run) sort(m warc.Member, f *scanned) {
	kind, place := m.Field("WARC-Type"), span{m.Offset, m.Length}
	switch {
	case kind == "warcinfo" || m.Erasure() != "":
	case r.selects(m.Record, "WARC-Target-URI", "WARC-Date"):
		f.erased = append(f.erased, place)
		if kind == "response" {
			f.originals[keyOf(m.Field("WARC-Record-ID"))] = place
		}
	case kind == "revisit" && r.refers(m.Record, f):
		f.left++
		f.moved = append(f.moved, place)
	default:
		f.left++
	}
}

// refers tells whether a revisit refers to a response that goes.
func (r *run) refers(revisit warc.Record, f *scanned) bool {
	_, found := f.originals[keyOf(revisit.Field("WARC-Refers-To"))]
	return found || r.selects(revisit, "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
}

// selects tells whether the page that a record names in two fields is selected. A revisit of an answer
// that nothing has changed (304) has no second date: it names itself.
func (r *run) selects(m warc.Record, target, date string) bool {
	at, _ := time.Parse(time.RFC3339, m.Field(date))
	return m.Field(target) != "" && r.Selection.selects(m.Field(target), at)
}

// replace makes the new file on the local disk, compares it, and puts it behind its index.
func (r *run) replace(ctx context.Context, name, index string, f scanned) error {
	draft, err := scratch.File()
	if err != nil {
		return err
	}
	defer draft.Close()
	if err := r.Archive.Get(ctx, name, draft); err != nil {
		return err
	}
	before, err := draft.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	moved, err := move(name, draft, before, f)
	if err != nil {
		return err
	}
	for _, place := range slices.Concat(f.erased, f.moved) {
		grave, err := warc.Tombstone(name, place.offset, place.length, r.entry.Erasure, r.entry.At)
		if err != nil {
			return err
		}
		if _, err := draft.WriteAt(grave, place.offset); err != nil {
			return fmt.Errorf("write a draft: %w", err)
		}
	}
	if err := r.check(ctx, name, draft, f); err != nil {
		return err
	}
	if index != "" {
		if err := r.editIndex(ctx, index, f.erased, moved); err != nil {
			return err
		}
	}
	size, err := draft.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read a draft: %w", err)
	}
	return r.Archive.Put(ctx, name, io.NewSectionReader(draft, 0, size), size)
}

// check reads a draft. All of its members must be records, and the tombstones of this erasure must be
// where records were. What else it has was copied.
func (r *run) check(ctx context.Context, name string, draft *os.File, f scanned) error {
	members := 0
	for m, err := range warc.Members(io.NewSectionReader(draft, 0, math.MaxInt64)) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return fmt.Errorf("the new form of %s is not put: %w", name, err)
		}
		place, grave := spanAt(f.erased, m.Offset)
		if !grave {
			place, grave = spanAt(f.moved, m.Offset)
		}
		if grave && (place.length != m.Length || m.Erasure() != r.entry.Erasure) {
			return fmt.Errorf("the new form of %s is not put: there is no tombstone at %d", name, m.Offset)
		}
		members++
	}
	if want := f.members + len(f.moved); members != want {
		return fmt.Errorf("the new form of %s is not put: it has %d records and not %d", name, members, want)
	}
	return nil
}
