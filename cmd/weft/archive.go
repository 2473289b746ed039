package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/inspect/table"
	"github.com/weftcrawl/weft/internal/blob"
)

// archiveFlags say where an archive is.
type archiveFlags struct {
	Data    string    `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl: its archive is in DIR/warc."`
	Archive *location `placeholder:"URL" help:"Where the archive is, if it is not in DIR/warc: a folder, or a bucket as in --checkpoints."`
}

// where is the location of the archive.
func (f archiveFlags) where() string {
	if f.Archive != nil && *f.Archive != noArchive {
		return string(*f.Archive)
	}
	return filepath.Join(f.Data, archiveFolder)
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
