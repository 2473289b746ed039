package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/transfer"
)

type repartitionCmd struct {
	reachFlags
	madeFlags
	To   string `placeholder:"DIR" type:"path" help:"Data directory of the crawl that is made, without --brokers."`
	Temp string `placeholder:"DIR" type:"path" help:"Directory for the copy of the crawl, which is deleted in the end; by default the system's."`
}

// Run is called by kong.
func (c *repartitionCmd) Run(ctx context.Context, root *cli, std streams) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	release, err := c.reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := c.exists(ctx, topics.Loop(c.Crawl).Config); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(c.Temp, "weft-repartition-")
	if err != nil {
		return usagef("--temp: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	dir := filepath.Join(temp, "export")
	if _, err := transfer.Export(ctx, transfer.ExportOptions{
		Crawl: c.Crawl, Client: c.client(), Dir: dir, Bodies: c.bodies(), Logger: root.logger(std.err),
	}); err != nil {
		return transferError(err)
	}
	archive, err := transfer.OpenArchive(dir)
	if err != nil {
		return fmt.Errorf("read the copy of %s: %w", c.Crawl, err)
	}
	made := c.reachFlags
	if c.To != "" {
		made.Brokers, made.Data, made.embedded = nil, c.To, false
	}
	if c.As != "" {
		made.Crawl = c.As
	}
	return c.bring(ctx, root, std, archive, &made, false)
}

// check refuses to make a crawl of itself.
func (c *repartitionCmd) check() error {
	if err := c.madeFlags.check(); err != nil {
		return err
	}
	switch {
	case c.Partitions == 0:
		return usagef("--partitions N says how many partitions the crawl is to have")
	case len(c.Brokers) > 0 && c.To != "":
		return usagef("--to is for a crawl in a data directory; on --brokers the new one needs another name: --as NAME")
	case len(c.Brokers) > 0 && (c.As == "" || c.As == c.Crawl):
		return usagef("topics cannot be renamed, so that the new crawl needs another name: --as NAME")
	case len(c.Brokers) == 0 && (c.To == "" || c.To == c.Data):
		return usagef("the new crawl needs a data directory of its own: --to DIR")
	}
	return nil
}
