package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/inspect/transfer"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/topics"
)

type exportCmd struct {
	Folder string `arg:"" type:"path" help:"Folder to write. It must be empty, or must not exist."`

	reachFlags
	WithoutPages bool `help:"Leave out the topics parsed (pages) and rejected."`
}

func (c *exportCmd) Run(ctx context.Context, root *cli, std streams) error {
	open, err := c.open(ctx, std, crawl.ToRead, topics.Loop(c.Crawl).Config)
	if err != nil {
		return err
	}
	defer open.close()
	m, err := transfer.Export(ctx, transfer.ExportOptions{
		Crawl: c.Crawl, Client: open.client(), Dir: c.Folder, WithoutPages: c.WithoutPages, Bodies: open.bodies, Damaged: open.damaged, Logger: root.logger(std.err),
	})
	if err != nil {
		return transferError(err)
	}
	_, err = fmt.Fprintf(std.out, "exported crawl %s: %d partitions, %s events of ledgers, %s pages, %s in %s\n",
		c.Crawl, m.Definition.Partitions, progress.Count(m.Records("deduped")+m.Records("scheduled")),
		progress.Count(m.Records("parsed")), progress.Bytes(m.Bytes()), c.Folder)
	return err
}

// bodies opens the store of large bodies that a definition of the crawl names.
func (c *openCrawl) bodies(ctx context.Context, location string) (blob.Bucket, error) {
	return crawl.OpenBodies(ctx, c.dir, location)
}

// transferError marks the errors that the user can fix with another command line.
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

type importCmd struct {
	Folder string `arg:"" type:"path" help:"Folder that weft export wrote."`

	reachFlags
	newCrawlFlags
	Again bool `help:"First delete what an interrupted import wrote."`
}

// newCrawlFlags are the properties of a crawl that is made from another one.
type newCrawlFlags struct {
	As          string `placeholder:"NAME" help:"Name of the new crawl (default: the name of the old one)."`
	Partitions  int32  `placeholder:"N" help:"Partitions of the new crawl (default: as many as the old one had)."`
	Replication int16  `placeholder:"N" default:"-1" help:"Copies of each partition; -1: the default of the brokers."`

	Bodies location `placeholder:"URL" help:"Store of the new crawl's large bodies, as in weft crawl. Default: the old store. If it is in a data directory: DIR/bodies of the new crawl, or records on a cluster."`
}

func (f newCrawlFlags) check() error {
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
	return c.create(ctx, root, std, archive, c.reachFlags, c.Again)
}

// create imports an export to the place that target names.
func (f newCrawlFlags) create(ctx context.Context, root *cli, std streams, archive *transfer.Archive, target reachFlags, again bool) error {
	open, err := target.open(ctx, std, crawl.ToCreate, "")
	if err != nil {
		return err
	}
	defer open.close()
	options := transfer.ImportOptions{
		Client: open.client(), Crawl: target.Crawl, Partitions: f.Partitions, Replication: f.Replication, Again: again,
		Compression: "lz4", Logger: root.logger(std.err),
	}
	options.Bodies, options.OpenBodies = cmp.Or(string(f.Bodies), archive.Definition.Bodies), open.bodies
	switch {
	case open.dir != "":
		if n := cmp.Or(f.Partitions, archive.Definition.Partitions); n > crawl.MostPartitions {
			return usagef("%d partitions are too many for a data directory: give --partitions, at most %d", n, crawl.MostPartitions)
		}
		options.Compression, options.Replication = "none", 1
		options.Bodies = cmp.Or(options.Bodies, topics.InData)
	case options.Bodies == topics.InData:
		options.Bodies = "" // bodies are in records
	}
	made, err := transfer.Import(ctx, archive, options)
	if err != nil {
		return transferError(err)
	}
	_, err = fmt.Fprintf(std.out, "imported crawl %s: %d partitions, %s pages, %s URLs left\n"+
		"do not start the old crawl again: both would ask the same servers\n",
		made.Definition.Crawl, made.Definition.Partitions, progress.Count(made.Records["parsed"]), progress.Count(made.Pending))
	return err
}

type repartitionCmd struct {
	reachFlags
	newCrawlFlags
	To   string `placeholder:"DIR" type:"path" help:"Data directory of the new crawl, if there are no --brokers."`
	Temp string `placeholder:"DIR" type:"path" help:"Directory for a temporary copy of the crawl; by default the system's."`
}

func (c *repartitionCmd) Run(ctx context.Context, root *cli, std streams) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	open, err := c.open(ctx, std, crawl.ToWrite, topics.Loop(c.Crawl).Config)
	if err != nil {
		return err
	}
	defer open.close()
	temp, err := os.MkdirTemp(c.Temp, "weft-repartition-")
	if err != nil {
		return usagef("--temp: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	dir := filepath.Join(temp, "export")
	if _, err := transfer.Export(ctx, transfer.ExportOptions{
		Crawl: c.Crawl, Client: open.client(), Dir: dir, Bodies: open.bodies, Logger: root.logger(std.err),
	}); err != nil {
		return transferError(err)
	}
	archive, err := transfer.OpenArchive(dir)
	if err != nil {
		return fmt.Errorf("read the copy of %s: %w", c.Crawl, err)
	}
	target := c.reachFlags
	if c.To != "" {
		target.Brokers, target.Data = nil, c.To
	}
	target.Crawl = cmp.Or(c.As, c.Crawl)
	return c.create(ctx, root, std, archive, target, false)
}

// check makes sure that the new crawl has a place of its own.
func (c *repartitionCmd) check() error {
	if err := c.newCrawlFlags.check(); err != nil {
		return err
	}
	switch {
	case c.Partitions == 0:
		return usagef("--partitions N is missing: how many partitions the new crawl has")
	case len(c.Brokers) > 0 && c.To != "":
		return usagef("--to is for a crawl in a data directory; on --brokers the new one needs another name: --as NAME")
	case len(c.Brokers) > 0 && (c.As == "" || c.As == c.Crawl):
		return usagef("topics cannot be renamed, so the new crawl needs another name: --as NAME")
	case len(c.Brokers) == 0 && (c.To == "" || c.To == c.Data):
		return usagef("the new crawl needs a data directory of its own: --to DIR")
	}
	return nil
}
