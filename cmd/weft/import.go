package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/transfer"
)

type importCmd struct {
	Folder string `arg:"" type:"path" help:"Folder that weft export wrote."`

	reachFlags
	madeFlags
	Again bool `help:"Delete first what an import that was interrupted wrote."`
}

// madeFlags say what a crawl that is made of another one is like.
type madeFlags struct {
	As          string `placeholder:"NAME" help:"Name of the crawl that is made (default: the one that it had)."`
	Partitions  int32  `placeholder:"N" help:"Partitions of the crawl that is made (default: as many as it had)."`
	Replication int16  `placeholder:"N" default:"-1" help:"Copies of each partition; -1 leaves it to the brokers."`

	Bodies location `placeholder:"URL" help:"Where large bodies of the crawl that is made are, as in weft crawl (default: as they were; of a data directory, DIR/bodies in another one, and records on a cluster)."`
}

func (f madeFlags) check() error {
	switch {
	case f.Partitions < 0:
		return usagef("--partitions %d is not positive", f.Partitions)
	case f.As == "":
		return nil
	}
	if err := topics.CheckCrawl(f.As); err != nil {
		return usagef("--as: %w", err)
	}
	return nil
}

// Run is called by kong.
func (c *importCmd) Run(ctx context.Context, root *cli, std streams) error {
	if err := c.check(); err != nil {
		return err
	}
	archive, err := transfer.OpenArchive(c.Folder)
	if err != nil {
		return transferError(err)
	}
	name := cmp.Or(c.As, archive.Definition.Crawl)
	if c.Crawl != topics.DefaultCrawl && c.Crawl != name {
		return usagef("--crawl %s: the export is of %s, which --as gives another name", c.Crawl, archive.Definition.Crawl)
	}
	c.Crawl = name
	return c.bring(ctx, root, std, archive, &c.reachFlags, c.Again)
}

// bring imports an export to where to says.
func (f madeFlags) bring(ctx context.Context, root *cli, std streams, archive *transfer.Archive, to *reachFlags, again bool) error {
	release, err := to.found(ctx)
	if err != nil {
		return err
	}
	defer release()
	admin, err := to.admin(ctx) // makes sure that it answers
	if err != nil {
		return err
	}
	admin.Close()
	options := transfer.ImportOptions{
		Client: to.client(), Crawl: to.Crawl, Partitions: f.Partitions, Replication: f.Replication, Again: again,
		Compression: "lz4", Logger: root.logger(std.err),
	}
	options.Bodies, options.OpenBodies = cmp.Or(string(f.Bodies), archive.Definition.Bodies), to.bodies()
	switch {
	case to.embedded:
		options.Compression, options.Replication = "none", 1
		options.Bodies = cmp.Or(options.Bodies, topics.InData)
	case options.Bodies == topics.InData:
		options.Bodies = "" // in records
	}
	made, err := transfer.Import(ctx, archive, options)
	if err != nil {
		return transferError(err)
	}
	_, err = fmt.Fprintf(std.out, "imported crawl %s: %d partitions, %s pages, %s URLs left\n"+
		"do not start the one it was made of any more: both would ask the same servers\n",
		made.Definition.Crawl, made.Definition.Partitions, progress.Count(made.Records["parsed"]), progress.Count(made.Pending))
	return err
}
