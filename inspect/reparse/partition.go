package reparse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive"
)

// Partition is how pages are divided among folders; empty: they are not.
type Partition string

// Partitions. Folders have the names of Hive, which DuckDB and Spark read as columns.
const (
	ByDay          Partition = "day"        // fetch_date=2026-11-28/STEM.jsonl
	ByDomain       Partition = "domain"     // domain=example.com/STEM.jsonl
	ByDayAndDomain Partition = "day,domain" // fetch_date=2026-11-28/domain=example.com/STEM.jsonl
)

// doneFolder has an object for each file of the archive whose pages are all there, if they are in
// several objects. Programs that read partitions do not see it.
const doneFolder = "done/"

// lastName is the object that is written last for a file of the archive.
func (o *Options) lastName(stem string) string {
	if o.Partition == "" && o.Format != Objects {
		return stem + o.extension()
	}
	return doneFolder + stem + ".json"
}

// output makes the files of a generation for one file of the archive.
type output interface {
	// add adds a page. It calls left when the page is not in memory any more, at the latest when
	// publish returns; after an error it need not.
	add(p page, left func()) error
	// publish makes them visible. last is the name of the object that is written last. The error is
	// blob.ErrExists if it is there.
	publish(ctx context.Context, to blob.Bucket, last string) error
	close()
}

func (o *Options) newOutput(ctx context.Context, s *source) (output, error) {
	switch {
	case o.Format == Objects:
		return o.newObjects(ctx), nil
	case o.Partition != "":
		return o.newPartitions(s)
	default:
		return o.newDraft(s)
	}
}

// partitions are the pages of one file of the archive, by their folders. They wait in one temporary
// file, so that not all folders have open files at a time.
type partitions struct {
	options *Options
	source  *source
	file    *os.File
	out     *bufio.Writer
	bytes   int64             // written to out
	pages   map[string][]span // by folder
}

// span is the place of a line in the temporary file.
type span struct {
	at    int64
	bytes int
}

func (o *Options) newPartitions(s *source) (*partitions, error) {
	file, err := scratch.File()
	if err != nil {
		return nil, err
	}
	return &partitions{options: o, source: s, file: file, out: bufio.NewWriterSize(file, 256<<10), pages: map[string][]span{}}, nil
}

func (ps *partitions) add(p page, left func()) error {
	defer left()
	date, err := p.response.Date()
	if err != nil {
		return err
	}
	folder := ps.options.Partition.folder(date, urls.DomainOf(p.response.Field("WARC-Target-URI")))
	ps.pages[folder] = append(ps.pages[folder], span{ps.bytes, len(p.line)})
	ps.bytes += int64(len(p.line))
	if _, err := ps.out.Write(p.line); err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	return nil
}

// folder is the folder of a page.
func (p Partition) folder(date time.Time, domain string) (folder string) {
	if p != ByDomain {
		folder = "fetch_date=" + date.UTC().Format(time.DateOnly) + "/"
	}
	if p != ByDay {
		folder += "domain=" + url.PathEscape(domain) + "/"
	}
	return folder
}

// publish makes a file in each folder. Those that a killed process made are the same.
func (ps *partitions) publish(ctx context.Context, to blob.Bucket, last string) error {
	if err := ps.out.Flush(); err != nil {
		return fmt.Errorf("write a draft: %w", err)
	}
	var done struct {
		Files []string `json:"files"`
	}
	done.Files = []string{}
	for _, folder := range slices.Sorted(maps.Keys(ps.pages)) {
		name := folder + archive.Stem(ps.source.name) + ps.options.extension()
		if err := ps.one(ctx, to, name, ps.pages[folder]); err != nil && !errors.Is(err, blob.ErrExists) {
			return err
		}
		done.Files = append(done.Files, name)
	}
	text, err := json.Marshal(done)
	if err != nil {
		return fmt.Errorf("list the files: %w", err)
	}
	return to.PutNew(ctx, last, bytes.NewReader(text), int64(len(text)))
}

// one makes the file of a folder.
func (ps *partitions) one(ctx context.Context, to blob.Bucket, name string, lines []span) error {
	d, err := ps.options.newDraft(ps.source)
	if err != nil {
		return err
	}
	defer d.close()
	for _, l := range lines {
		line := make([]byte, l.bytes, l.bytes+1) // a line break follows
		if _, err := ps.file.ReadAt(line, l.at); err != nil {
			return fmt.Errorf("read a draft: %w", err)
		}
		if err := d.pages.add(page{line: line}); err != nil {
			return err
		}
	}
	return d.publish(ctx, to, name)
}

func (ps *partitions) close() { _ = ps.file.Close() }
