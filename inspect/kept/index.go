package kept

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// Index has the places of all responses of an archive in memory, 40 bytes for each. It is safe for
// concurrent use. Files that are published later are not in it.
type Index struct {
	bucket blob.Bucket
	files  []string
	places []place // sorted by URL and time
}

// place says where a response is.
type place struct {
	url     uint64 // its hash
	offset  int64
	seconds int64 // since 1970
	length  uint32
	file    uint32 // in Index.files
	status  uint16
}

// ErrEmpty means that there is no index in an archive.
var ErrEmpty = errors.New("there is no index of an archive")

// Load reads the indexes of all files of an archive that are there.
func Load(ctx context.Context, bucket blob.Bucket) (*Index, error) {
	ix := &Index{bucket: bucket}
	known := map[string]uint32{}
	indexes, err := Indexes(ctx, bucket)
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		var text bytes.Buffer
		if err := bucket.Get(ctx, index, &text); err != nil {
			return nil, err
		}
		for l := range warc.AllLines(text.Bytes()) {
			ix.add(known, l)
		}
	}
	if len(ix.files) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrEmpty, bucket)
	}
	slices.SortFunc(ix.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.url, b.url), cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset))
	})
	ix.places = slices.Clip(ix.places)
	return ix, nil
}

func (ix *Index) add(known map[string]uint32, l warc.Line) {
	file, ok := known[l.File]
	if !ok {
		file = uint32(len(ix.files))
		known[l.File] = file
		ix.files = append(ix.files, l.File)
	}
	status, _ := strconv.ParseUint(l.Status, 10, 16)
	ix.places = append(ix.places, place{
		url: xxhash.Sum64String(l.URL), offset: l.Offset, seconds: l.Date.Unix(), length: uint32(l.Length), file: file, status: uint16(status),
	})
}

// Len is the number of responses.
func (ix *Index) Len() int { return len(ix.places) }

// Lines returns the lines of exactly this URL, the oldest first, without what Read does not need. It
// may have lines of another URL: Read returns ErrNone for them.
func (ix *Index) Lines(target string) (found []warc.Line) {
	hash := xxhash.Sum64String(target)
	first, _ := slices.BinarySearchFunc(ix.places, hash, func(p place, hash uint64) int { return cmp.Compare(p.url, hash) })
	for _, p := range ix.places[first:] {
		if p.url != hash {
			break
		}
		found = append(found, warc.Line{File: ix.files[p.file], Entry: warc.Entry{
			URL: target, Date: time.Unix(p.seconds, 0).UTC(), Status: strconv.Itoa(int(p.status)), Offset: p.offset, Length: int64(p.length),
		}})
	}
	return found
}

// Read reads the response of a line of Lines.
func (ix *Index) Read(ctx context.Context, l warc.Line) (Exchange, error) {
	x, err := read(ctx, ix.bucket, l, func(target string) ([]warc.Line, error) {
		return slices.DeleteFunc(ix.Lines(target), func(other warc.Line) bool { return other.File != l.File }), nil
	})
	if err == nil && x.URL != l.URL {
		err = fmt.Errorf("%w: %s", ErrNone, l.URL)
	}
	return x, err
}
