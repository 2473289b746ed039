package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/reparse"
	"github.com/weftcrawl/weft/internal/blob"
)

type reparseCmd struct {
	From      archiveLocation `required:"" placeholder:"ARCHIVE" help:"The archive: a folder, a bucket as in --checkpoints, or the data directory of a crawl, whose archive is in its folder warc."`
	To        location        `required:"" placeholder:"GENERATION" help:"Folder or bucket for the pages: a file for each file of the archive. Files that are there are not made again."`
	Share     share           `placeholder:"K/N" help:"Make only share K of N, so that N machines make one generation: 1/3, 2/3 and 3/3."`
	Format    string          `enum:"jsonl,parquet,wet,wat,objects" default:"jsonl" help:"Format of the files: jsonl, a record of parsed in each line; parquet, a table of pages; wet, WARC with the text of each page; wat, WARC with the metadata of each page; objects, an object with the body of each page and one with its metadata."`
	Compress  *string         `enum:"none,gzip,zstd" placeholder:"WHAT" help:"Compress the files: none, gzip or zstd. The default is none for jsonl and gzip for wet and wat; parquet always has zstd."`
	Partition []string        `enum:"day,domain" placeholder:"day,domain" help:"Divide the pages among folders: by day in fetch_date=DAY, by domain in domain=DOMAIN, or by both. For jsonl and parquet."`
	JSON      bool            `name:"json" help:"Print one JSON object."`
	parseFlags
}

func (c *reparseCmd) Run(ctx context.Context, root *cli, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	archive, err := openThere(ctx, string(c.From))
	if err != nil {
		return usageError{fmt.Errorf("--from: %w", err)}
	}
	generation, err := blob.Open(ctx, string(c.To))
	if err != nil {
		return usageError{fmt.Errorf("--to: %w", err)}
	}
	given, err := c.given()
	if err != nil {
		return err
	}
	slices.Sort(c.Partition)
	options := reparse.Options{
		Archive: archive, Generation: generation, Redefine: c.over, Settings: given, Version: version(),
		Format: reparse.Format(c.Format), Partition: reparse.Partition(strings.Join(c.Partition, ",")),
		Share: c.Share.number, Shares: c.Share.of, Logger: root.logger(std.err),
	}
	if c.Compress != nil {
		options.Compression = reparse.Compression(*c.Compress)
	}
	if err := options.Validate(); err != nil {
		return usageError{err}
	}
	begun := time.Now()
	report, err := reparse.Run(ctx, options)
	took := time.Since(begun)
	switch {
	case errors.Is(err, reparse.ErrOther):
		return usageError{err}
	case err != nil:
		return fmt.Errorf("%w; what is complete stays, and the same command goes on", err)
	case c.JSON:
		return printJSON(std.out, report)
	}
	return tellReparsed(std.out, report, took)
}

// given are the flags that change what is read in a page, as JSON.
func (f parseFlags) given() (json.RawMessage, error) {
	text, err := json.Marshal(f)
	var flags map[string]any
	if err == nil {
		err = json.Unmarshal(text, &flags)
	}
	maps.DeleteFunc(flags, func(_ string, value any) bool { return value == nil })
	if err == nil {
		text, err = json.Marshal(flags)
	}
	if err != nil {
		return nil, fmt.Errorf("describe the flags: %w", err)
	}
	return text, nil
}

// openThere opens a folder, which must exist, or a bucket.
func openThere(ctx context.Context, where string) (blob.Bucket, error) {
	if _, err := os.Stat(where); err != nil && !strings.Contains(where, "://") {
		return nil, err
	}
	return blob.Open(ctx, where)
}

func tellReparsed(w io.Writer, r reparse.Report, took time.Duration) error {
	var out strings.Builder
	pages := r.Outcomes[reparse.Page]
	fmt.Fprintf(&out, "%d pages of %d files in %v", pages, r.Files, took.Round(10*time.Millisecond))
	if took > time.Second {
		fmt.Fprintf(&out, ", %.0f a second", float64(pages)/took.Seconds())
	}
	fmt.Fprintln(&out)
	for _, line := range []struct {
		n    int
		what string
	}{
		{r.Before, "files were there already"}, {r.Others, "files are of other shares"},
		{r.Foreign, "files are not of this version, or of another program, and were not read"},
	} {
		if line.n > 0 {
			fmt.Fprintf(&out, "%d %s\n", line.n, line.what)
		}
	}
	for _, outcome := range slices.Sorted(maps.Keys(r.Outcomes)) {
		if outcome != reparse.Page {
			fmt.Fprintf(&out, "%d responses without a page: %s\n", r.Outcomes[outcome], outcome)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// share is a flag: one of several parts, such as 2/3. The zero value is the whole.
type share struct{ number, of int }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *share) UnmarshalText(text []byte) error {
	number, of, ok := strings.Cut(string(text), "/")
	var err1, err2 error
	s.number, err1 = strconv.Atoi(number)
	s.of, err2 = strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || s.number < 1 || s.number > s.of || s.of > 1<<20 {
		return errors.New("a share is K/N, such as 2/3: K is between 1 and N")
	}
	return nil
}
