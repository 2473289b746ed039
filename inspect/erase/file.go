package erase

import (
	"bytes"
	"cmp"
	"context"
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

// scanned is what a file has.
type scanned struct {
	// erased are the records that go, without their blocks.
	erased []warc.Member
	// moved are the revisits that refer to one of them, and stay.
	moved []warc.Member
	// left is the number of records that stay, without warcinfo. members are all members.
	left, members int
}

// scan reads a whole file.
func (r *run) scan(ctx context.Context, name string) (f scanned, err error) {
	reader := blob.Reader(ctx, r.Archive, name)
	defer reader.Close()
	gone := map[string]bool{} // ids of records
	for m, err := range warc.Members(reader) {
		if err != nil {
			return f, err
		}
		f.members++
		switch {
		case m.Field("WARC-Type") == "warcinfo" || m.Erasure() != "":
		case r.selects(m.Record, "WARC-Target-URI", "WARC-Date"):
			m.Block = nil
			gone[m.Field("WARC-Record-ID")] = true
			f.erased = append(f.erased, m)
		case m.Field("WARC-Type") == "revisit" && (gone[m.Field("WARC-Refers-To")] || r.selects(m.Record, "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")):
			f.left++
			f.moved = append(f.moved, m)
		default:
			f.left++
		}
	}
	return f, nil
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
	moved, err := r.move(ctx, name, draft, before, f)
	if err != nil {
		return err
	}
	gone := map[int64]bool{}
	for _, m := range f.erased {
		gone[m.Offset] = true
	}
	for _, m := range slices.Concat(f.erased, f.moved) {
		grave, err := warc.Tombstone(name, m.Offset, m.Length, r.entry.Erasure, r.entry.At)
		if err != nil {
			return err
		}
		if _, err := draft.WriteAt(grave, m.Offset); err != nil {
			return fmt.Errorf("write a draft: %w", err)
		}
	}
	if err := r.check(ctx, name, draft, f); err != nil {
		return err
	}
	if index != "" {
		if err := r.editIndex(ctx, index, gone, moved); err != nil {
			return err
		}
	}
	size, err := draft.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read a draft: %w", err)
	}
	return r.Archive.Put(ctx, name, io.NewSectionReader(draft, 0, size), size)
}

// move writes what moves to the end of a draft, and returns the new places by the former offsets.
func (r *run) move(ctx context.Context, name string, draft *os.File, end int64, f scanned) (map[int64]warc.Entry, error) {
	originals := map[string]warc.Member{}
	for _, m := range f.erased {
		if m.Field("WARC-Type") == "response" {
			originals[m.Field("WARC-Record-ID")] = m
		}
	}
	places := map[int64]warc.Entry{}
	firsts := map[string]warc.Record{} // what took the place of an erased record, by its id
	for _, m := range f.moved {
		of, entry := m.Field("WARC-Refers-To"), warc.Entry{MIME: "warc/revisit"}
		first, there := firsts[of]
		original, found := originals[of]
		if found && !there {
			payload, err := r.payload(ctx, name, original)
			if err != nil {
				return nil, err
			}
			m.Record = m.Response(payload)
			entry.MIME, firsts[of] = m.MediaType(), m.Record
		} else {
			// Without an original it could not be read before. Then it refers to nothing.
			m.Record = m.Referring(first)
		}
		member, err := warc.Pack(name, m.Record)
		if err != nil {
			return nil, err
		}
		if _, err := draft.WriteAt(member, end); err != nil {
			return nil, fmt.Errorf("write a draft: %w", err)
		}
		entry.Offset, entry.Length = end, int64(len(member))
		places[m.Offset] = entry
		end += entry.Length
	}
	return places, nil
}

// payload returns the payload of an erased response, whose file is not replaced yet.
func (r *run) payload(ctx context.Context, name string, m warc.Member) ([]byte, error) {
	var text bytes.Buffer
	if err := r.Archive.GetRange(ctx, name, m.Offset, m.Length, &text); err != nil {
		return nil, err
	}
	record, err := warc.ReadMember(text.Bytes())
	_, payload := record.Message()
	return payload, err
}

// check reads a draft. All of its members must be records, and the tombstones of this erasure must be
// where records were. What else it has was copied.
func (r *run) check(ctx context.Context, name string, draft *os.File, f scanned) error {
	graves := map[int64]int64{}
	for _, m := range slices.Concat(f.erased, f.moved) {
		graves[m.Offset] = m.Length
	}
	members := 0
	for m, err := range warc.Members(io.NewSectionReader(draft, 0, math.MaxInt64)) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return fmt.Errorf("the new form of %s is not put: %w", name, err)
		}
		if length, grave := graves[m.Offset]; grave && (length != m.Length || m.Erasure() != r.entry.Erasure) {
			return fmt.Errorf("the new form of %s is not put: there is no tombstone at %d", name, m.Offset)
		}
		members++
	}
	if want := f.members + len(f.moved); members != want {
		return fmt.Errorf("the new form of %s is not put: it has %d records and not %d", name, members, want)
	}
	return nil
}
