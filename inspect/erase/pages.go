package erase

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
)

// known are the objects beside files of pages that have no pages.
var known = []string{jsonl.ManifestName, jsonl.StateName}

// checkCopies refuses generations of other formats, and those that are divided among folders, whose names
// have domains. They are made again from the archive.
func (r *run) checkCopies(ctx context.Context) error {
	for _, bucket := range r.Pages {
		other, err := keys(ctx, bucket, "", func(name string) bool {
			return !slices.Contains(known, name) && (!jsonl.IsFile(name) || strings.Contains(name, "/"))
		})
		if err != nil {
			return err
		}
		if len(other) > 0 {
			return fmt.Errorf("%s in %s: %w. Delete this generation, and make it again after the erasure", other[0], bucket, ErrOtherCopy)
		}
	}
	return nil
}

// pages takes selected pages out of all files of pages. A file without pages stays: weft reparse would
// make it again.
func (r *run) pages(ctx context.Context) error {
	for _, bucket := range r.Pages {
		names, err := keys(ctx, bucket, "", jsonl.IsFile)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := r.pagesOf(ctx, bucket, name); err != nil {
				return fmt.Errorf("erase pages in %s: %w", bucket, err)
			}
		}
	}
	return nil
}

func (r *run) pagesOf(ctx context.Context, bucket blob.Bucket, name string) error {
	selected := int64(0)
	err := jsonl.Lines(ctx, bucket, name, func(line []byte) error {
		is, err := r.isPage(line)
		if is {
			selected++
		}
		return err
	})
	r.report.Pages += selected
	if err != nil || selected == 0 || r.search {
		return err
	}
	r.report.Files++
	draft, err := scratch.File()
	if err != nil {
		return err
	}
	defer draft.Close()
	if err := r.copyPages(ctx, bucket, name, draft); err != nil {
		return err
	}
	size, err := draft.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	return bucket.Put(ctx, name, io.NewSectionReader(draft, 0, size), size)
}

// isPage tells whether a line is a selected page.
func (r *run) isPage(line []byte) (bool, error) {
	var page struct {
		URL       string    `json:"url"`
		FetchedAt time.Time `json:"fetched_at"`
	}
	if err := json.Unmarshal(line, &page); err != nil {
		return false, fmt.Errorf("read a page: %w", err)
	}
	return r.Selection.selects(page.URL, page.FetchedAt), nil
}

// copyPages copies the lines that stay, with the compression that the name says.
func (r *run) copyPages(ctx context.Context, bucket blob.Bucket, name string, draft *os.File) error {
	out := bufio.NewWriterSize(draft, 256<<10)
	pack, err := jsonl.NewWriter(out, jsonl.CompressionOf(name))
	if err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	err = jsonl.Lines(ctx, bucket, name, func(line []byte) error {
		is, err := r.isPage(line)
		if err == nil && !is {
			_, err = pack.Write(append(line, '\n'))
		}
		return err
	})
	return errors.Join(err, pack.Close(), out.Flush())
}
