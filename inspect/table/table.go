package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// Report says what a run has done.
type Report struct {
	// Files were made, and Before were there already.
	Files  int `json:"files"`
	Before int `json:"files_before"`
	// Rows are in the files that were made, and Described are those with metadata of their page.
	Rows      int64 `json:"rows"`
	Described int64 `json:"described_rows"`
}

// Folder has the files of the table.
const Folder = "index/parquet/"

const extension = ".parquet"

// Make makes the files of the table that are not there. It returns what was done, also with an error.
func Make(ctx context.Context, bucket blob.Bucket) (report Report, err error) {
	indexes, err := kept.Indexes(ctx, bucket)
	if err != nil {
		return report, err
	}
	there := map[string]bool{}
	for object, err := range bucket.List(ctx, Folder) {
		if err != nil {
			return report, err
		}
		there[object.Key] = true
	}
	var missing []string
	for _, index := range indexes {
		if there[nameOf(index)] {
			report.Before++
		} else {
			missing = append(missing, index)
		}
	}
	if len(missing) == 0 {
		return report, nil
	}
	pages, err := collect(ctx, bucket)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, pages.close()) }()
	for _, index := range missing {
		rows, described, err := file(ctx, bucket, index, pages)
		if err != nil {
			return report, fmt.Errorf("make %s: %w", nameOf(index), err)
		}
		report.Files++
		report.Rows += rows
		report.Described += described
	}
	return report, nil
}

// nameOf is the name of the file of an index.
func nameOf(index string) string {
	return Folder + strings.TrimSuffix(index, archive.IndexExtension) + extension
}

// file makes the file of an index.
func file(ctx context.Context, bucket blob.Bucket, index string, pages *pages) (rows, described int64, err error) {
	var text, out bytes.Buffer
	if err := bucket.Get(ctx, index, &text); err != nil {
		return 0, 0, err
	}
	w := parquet.NewGenericWriter[Row](&out)
	for l := range warc.AllLines(text.Bytes()) {
		p, ok := pages.of(l)
		if ok {
			described++
		}
		if _, err := w.Write([]Row{rowOf(l, p)}); err != nil {
			return 0, 0, err
		}
		rows++
	}
	if err := errors.Join(w.Close(), pages.store.Err()); err != nil {
		return 0, 0, err
	}
	return rows, described, bucket.Put(ctx, nameOf(index), bytes.NewReader(out.Bytes()), int64(out.Len()))
}

// page is what metadata says of a page.
type page struct {
	MediaType string `json:"content_type,omitempty"`
	Charset   string `json:"charset,omitempty"`
	Language  string `json:"detected_language,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
}

// pages are the pages of an archive, in a temporary store.
type pages struct{ store *scratch.Store }

// tableBytes is the size of a table in memory of the store.
const tableBytes = 16 << 20

// collect reads all metadata of an archive.
func collect(ctx context.Context, bucket blob.Bucket) (*pages, error) {
	store, err := scratch.Open("weft-table", tableBytes)
	if err != nil {
		return nil, err
	}
	p := &pages{store}
	for object, err := range bucket.List(ctx, "") {
		if err == nil && archive.IsMetadata(object.Key) {
			err = p.read(ctx, bucket, object.Key)
		}
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

func (p *pages) close() error { return p.store.Close() }

// read reads a file of metadata.
func (p *pages) read(ctx context.Context, bucket blob.Bucket, name string) error {
	reader := blob.Reader(ctx, bucket, name)
	defer reader.Close()
	for record, err := range warc.Records(reader) {
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if err := p.add(record); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return p.store.Err()
}

func (p *pages) add(record warc.Record) error {
	text, ok := bytes.CutPrefix(record.Block, []byte(warc.ParsedField+": "))
	if !ok {
		return nil
	}
	var one page
	if err := json.Unmarshal(text, &one); err != nil {
		return fmt.Errorf("metadata of %s: %w", record.Field("WARC-Target-URI"), err)
	}
	date, err := record.Date()
	if err != nil {
		return err
	}
	value, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("metadata of %s: %w", record.Field("WARC-Target-URI"), err)
	}
	p.store.Set(keyOf(record.Field("WARC-Target-URI"), date.Unix()), value)
	return nil
}

// of is the page of a line of an index.
func (p *pages) of(l warc.Line) (one page, ok bool) {
	value := p.store.Get(keyOf(l.URL, l.Date.Unix()))
	return one, value != nil && json.Unmarshal(value, &one) == nil
}

// keyOf is the key of the page of a URL that was fetched in a second.
func keyOf(url string, second int64) []byte {
	sum := xxh3.HashString128(url).Bytes()
	return binary.BigEndian.AppendUint64(sum[:], uint64(second))
}

// Has tells whether a file of the table has a row that is selected.
func Has(ctx context.Context, bucket blob.Bucket, name string, selects func(url string, at time.Time) bool) (bool, error) {
	var text bytes.Buffer
	if err := bucket.Get(ctx, name, &text); err != nil {
		return false, err
	}
	type row struct {
		URL       string    `parquet:"url"`
		FetchTime time.Time `parquet:"fetch_time,timestamp(millisecond)"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(text.Bytes()), int64(text.Len()))
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return slices.ContainsFunc(rows, func(r row) bool { return selects(r.URL, r.FetchTime) }), nil
}
