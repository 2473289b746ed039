package wacz

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// Options of Write.
type Options struct {
	// Title of the collection; empty: it has none.
	Title string
	// Software is the name and version of the program.
	Software string
	// Created is the date of the file.
	Created time.Time
}

// Report counts what a file has.
type Report struct {
	Files int   `json:"files"`
	Lines int64 `json:"index_lines"`
	Pages int   `json:"pages"`
}

// ErrZstd means that the files are compressed with zstd, which the format does not permit.
var ErrZstd = errors.New("WACZ has files in gzip only: make the archive with --archive-compress gzip")

// Write writes an archive to out. It merges the indexes of the archive first, as kept.Merge does.
func Write(ctx context.Context, bucket blob.Bucket, out io.Writer, o Options) (Report, error) {
	merged, _, err := kept.Merge(ctx, bucket)
	if err != nil {
		return Report{}, err
	}
	if merged.Index == "" {
		return Report{}, kept.ErrEmpty
	}
	w := &writer{zip: zip.NewWriter(out), bucket: bucket, Options: o, listed: map[uuid.UUID]bool{}}
	w.report.Lines = merged.Lines
	for _, step := range []func() error{
		func() error { return w.files(ctx) },
		func() error { return w.index(ctx, merged) },
		func() error { return w.pages(ctx) },
		w.describe,
		w.zip.Close,
	} {
		if err := step(); err != nil {
			return w.report, err
		}
	}
	return w.report, nil
}

type writer struct {
	Options
	zip       *zip.Writer
	bucket    blob.Bucket
	metadata  []string // names of the files of metadata
	resources []resource
	// listed are the ids of pages in the list.
	listed map[uuid.UUID]bool
	report Report
}

// resource is a file in datapackage.json.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// entry is a file that is being written.
type entry struct {
	out   io.Writer
	sum   hash.Hash
	bytes int64
}

func (e *entry) Write(p []byte) (int, error) {
	n, err := e.out.Write(p)
	_, _ = e.sum.Write(p[:n])
	e.bytes += int64(n)
	return n, err
}

// add writes a file.
func (w *writer) add(name string, method uint16, write func(io.Writer) error) error {
	out, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: w.Created})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	e := &entry{out: out, sum: sha256.New()}
	if err := write(e); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w.resources = append(w.resources, resource{path.Base(name), name, sumOf(e.sum), e.bytes})
	return nil
}

func sumOf(sum hash.Hash) string { return "sha256:" + hex.EncodeToString(sum.Sum(nil)) }

// files adds the files of exchanges. They are stored, so that a reader can seek in them.
func (w *writer) files(ctx context.Context) error {
	var names []string
	for object, err := range w.bucket.List(ctx, "") {
		switch {
		case err != nil:
			return err
		case archive.IsMetadata(object.Key):
			w.metadata = append(w.metadata, object.Key)
		case !archive.IsFile(object.Key):
		case !strings.HasSuffix(object.Key, warc.Gzip.Extension()):
			return fmt.Errorf("%w: %s", ErrZstd, object.Key)
		default:
			names = append(names, object.Key)
		}
	}
	slices.Sort(names)
	slices.Sort(w.metadata)
	for _, name := range names {
		err := w.add("archive/"+name, zip.Store, func(out io.Writer) error { return w.bucket.Get(ctx, name, out) })
		if err != nil {
			return err
		}
		w.report.Files++
	}
	return nil
}

// page is a line of pages.jsonl.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Date  string `json:"ts"`
	Title string `json:"title,omitempty"`
}

// pages adds the list of pages.
func (w *writer) pages(ctx context.Context) error {
	return w.add("pages/pages.jsonl", zip.Deflate, func(out io.Writer) error {
		lines := json.NewEncoder(out)
		if err := lines.Encode(map[string]string{"format": "json-pages-1.0", "id": "pages", "title": "All pages"}); err != nil {
			return err
		}
		for _, name := range w.metadata {
			if err := w.pagesIn(ctx, name, lines); err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		}
		return nil
	})
}

// pagesIn adds the pages of a file of metadata.
func (w *writer) pagesIn(ctx context.Context, name string, lines *json.Encoder) error {
	reader := blob.Reader(ctx, w.bucket, name)
	defer reader.Close()
	for record, err := range warc.Records(reader) {
		if err != nil {
			return err
		}
		text, ok := bytes.CutPrefix(record.Block, []byte(warc.ParsedField+": "))
		if !ok {
			continue
		}
		var parsed struct {
			Title       string `json:"title"`
			ContentType string `json:"content_type"`
		}
		if err := json.Unmarshal(text, &parsed); err != nil {
			return fmt.Errorf("metadata of %s: %w", record.Field("WARC-Target-URI"), err)
		}
		if !mediatype.IsHTML(parsed.ContentType) {
			continue
		}
		id := strings.TrimSuffix(strings.TrimPrefix(record.Field("WARC-Record-ID"), "<urn:uuid:"), ">")
		// After a kill a page may come twice in parsed, and so in the files of metadata.
		if key, err := uuid.Parse(id); err == nil {
			if w.listed[key] {
				continue
			}
			w.listed[key] = true
		}
		if err := lines.Encode(page{id, record.Field("WARC-Target-URI"), record.Field("WARC-Date"), parsed.Title}); err != nil {
			return err
		}
		w.report.Pages++
	}
	return nil
}

// describe adds the description of all files, and its checksum.
func (w *writer) describe() error {
	text, err := json.MarshalIndent(map[string]any{
		"profile": "data-package", "wacz_version": "1.1.1", "title": w.Title, "software": w.Software,
		"created": w.Created.UTC().Format(time.RFC3339), "resources": w.resources,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("describe the files: %w", err)
	}
	sum := sha256.New()
	_, _ = sum.Write(text)
	digest, err := json.Marshal(map[string]string{"path": "datapackage.json", "hash": sumOf(sum)})
	if err != nil {
		return fmt.Errorf("describe the files: %w", err)
	}
	for _, file := range []struct {
		name string
		text []byte
	}{{"datapackage.json", text}, {"datapackage-digest.json", digest}} {
		err := w.add(file.name, zip.Deflate, func(out io.Writer) error {
			_, err := out.Write(file.text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
