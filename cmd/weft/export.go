package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/store"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/transfer"
)

type exportCmd struct {
	Folder string `arg:"" type:"path" help:"Folder to write; it must not exist, or be empty."`

	reachFlags
	WithoutPages bool `help:"Leave out the pages, in parsed, and the rejected records."`
}

// Run is called by kong.
func (c *exportCmd) Run(ctx context.Context, root *cli, std streams) error {
	release, err := c.look(ctx, std)
	if err != nil {
		return err
	}
	defer release()
	if err := c.exists(ctx, topics.Loop(c.Crawl).Config); err != nil {
		return err
	}
	m, err := transfer.Export(ctx, transfer.ExportOptions{
		Crawl: c.Crawl, Client: c.client(), Dir: c.Folder, WithoutPages: c.WithoutPages, Bodies: c.bodies(), Damaged: c.damaged, Logger: root.logger(std.err),
	})
	if err != nil {
		return transferError(err)
	}
	_, err = fmt.Fprintf(std.out, "exported crawl %s: %d partitions, %s events of ledgers, %s pages, %s in %s\n",
		c.Crawl, m.Definition.Partitions, progress.Count(m.Records("deduped")+m.Records("scheduled")),
		progress.Count(m.Records("parsed")), progress.Bytes(m.Bytes()), c.Folder)
	return err
}

// bodies opens the place of large bodies of the crawl that was reached.
func (f *reachFlags) bodies() transfer.OpenBodies {
	dir := ""
	if f.embedded {
		dir = f.Data
	}
	return func(ctx context.Context, location string) (store.Bucket, error) {
		return crawl.OpenBodies(ctx, dir, location)
	}
}

// transferError makes a mistake of usage of what the user mends by asking for
// something else.
func transferError(err error) error {
	for _, usage := range []error{
		transfer.ErrRunning, transfer.ErrExport, transfer.ErrExists, transfer.ErrHalf, transfer.ErrFolder, transfer.ErrBodies,
		topics.ErrUndefined, topics.ErrImporting,
	} {
		if errors.Is(err, usage) {
			return usageError{err}
		}
	}
	return err
}
