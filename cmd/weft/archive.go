package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
	"github.com/weftcrawl/weft/inspect/wacz"
	"github.com/weftcrawl/weft/internal/blob"
)

// archiveFlags say where an archive is.
type archiveFlags struct {
	Data    string    `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl: its archive is in DIR/warc."`
	Archive *location `placeholder:"URL" help:"Where the archive is, if it is not in DIR/warc: a folder, a bucket as in --checkpoints, or the data directory of another crawl."`
}

// where is the location of the archive. --archive may name the data directory of a crawl. As an archive, the files of its
// archive would be in a folder of it, and commands would write their own files where no command finds them.
func (f archiveFlags) where() string {
	if f.Archive == nil || *f.Archive == noArchive {
		return filepath.Join(f.Data, archiveFolder)
	}
	if filepath.IsAbs(string(*f.Archive)) {
		return within(string(*f.Archive), archiveFolder)
	}
	return string(*f.Archive)
}

// dir is the data directory of the crawl, which has its pages, too. --archive may name one.
func (f archiveFlags) dir() string {
	if f.Archive != nil && filepath.IsAbs(string(*f.Archive)) && isFolder(filepath.Join(string(*f.Archive), archiveFolder)) {
		return string(*f.Archive)
	}
	return f.Data
}

func (f archiveFlags) open(ctx context.Context) (blob.Bucket, error) {
	bucket, err := blob.Open(ctx, f.where())
	if err != nil {
		return nil, usageError{fmt.Errorf("archive: %w", err)}
	}
	return bucket, nil
}

type archiveCmd struct {
	Index   archiveIndexCmd   `cmd:"" help:"Merge the indexes of all files into one, which weft get then uses. Run it again when there are more files."`
	Expire  archiveExpireCmd  `cmd:"" help:"Erase what is older than a time, by domain if you like, as weft erase does. Run it once a day."`
	Parquet archiveParquetCmd `cmd:"" help:"Make a table of all responses as Parquet files in the folder index/parquet of the archive, with the columns of Common Crawl's index. Run it again when there are more files."`
	WACZ    archiveWACZCmd    `cmd:"" name:"wacz" help:"Write the archive as one file in the format WACZ, which ReplayWeb.page and other programs show."`
}

type archiveIndexCmd struct {
	archiveFlags
	JSON bool `name:"json" help:"Print one JSON object."`
}

func (c *archiveIndexCmd) Run(ctx context.Context, std streams) error {
	bucket, err := c.open(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	merged, fresh, err := kept.Merge(ctx, bucket)
	switch {
	case err != nil:
		return fmt.Errorf("merge the indexes in %s: %w", bucket, err)
	case merged.Index == "":
		return fmt.Errorf("%w in %s", kept.ErrEmpty, bucket)
	case c.JSON:
		return printJSON(std.out, merged)
	}
	_, err = fmt.Fprintf(std.out, "%s has %d lines of %d indexes, %d of them new, after %v\n",
		merged.Index, merged.Lines, len(merged.Of), fresh, time.Since(begun).Round(10*time.Millisecond))
	return err
}

type archiveParquetCmd struct {
	archiveFlags
	JSON bool `name:"json" help:"Print one JSON object."`
}

func (c *archiveParquetCmd) Run(ctx context.Context, std streams) error {
	bucket, err := c.open(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	report, err := table.Make(ctx, bucket)
	switch {
	case err != nil:
		return fmt.Errorf("make the table of %s: %w; the files that are there stay, and the same command goes on", bucket, err)
	case report.Files+report.Before == 0:
		return fmt.Errorf("%w in %s", kept.ErrEmpty, bucket)
	case c.JSON:
		return printJSON(std.out, report)
	}
	_, err = fmt.Fprintf(std.out, "%d rows in %d files of %s after %v, %d of them with metadata; %d files were there already\n",
		report.Rows, report.Files, table.Folder, time.Since(begun).Round(10*time.Millisecond), report.Described, report.Before)
	return err
}

type archiveWACZCmd struct {
	archiveFlags
	To    string `required:"" placeholder:"FILE" type:"path" help:"The file to write, such as crawl.wacz. It is replaced when the new one is complete."`
	Title string `placeholder:"TEXT" help:"Title of the collection."`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

func (c *archiveWACZCmd) Run(ctx context.Context, std streams) error {
	bucket, err := c.open(ctx)
	if err != nil {
		return err
	}
	report, err := c.write(ctx, bucket)
	switch {
	case errors.Is(err, wacz.ErrZstd):
		return usageError{err}
	case err != nil:
		return fmt.Errorf("write %s from %s: %w", c.To, bucket, err)
	case c.JSON:
		return printJSON(std.out, report)
	}
	_, err = fmt.Fprintf(std.out, "%s has %d files, %d lines of index and %d pages\n", c.To, report.Files, report.Lines, report.Pages)
	return err
}

// write writes the file beside its place, and then moves it there.
func (c *archiveWACZCmd) write(ctx context.Context, bucket blob.Bucket) (report wacz.Report, err error) {
	draft, err := os.CreateTemp(filepath.Dir(c.To), filepath.Base(c.To)+".*")
	if err != nil {
		return report, err
	}
	defer func() { _ = os.Remove(draft.Name()) }() // there is none after a success
	if err := draft.Chmod(0o644); err != nil {     // it is made for others, as any export
		return report, errors.Join(err, draft.Close())
	}
	report, err = wacz.Write(ctx, bucket, draft, wacz.Options{Title: c.Title, Software: "weft " + version(), Created: time.Now()})
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return report, err
	}
	return report, os.Rename(draft.Name(), c.To)
}
