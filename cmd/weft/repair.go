package main

import (
	"context"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

type ledgerRepairCmd struct {
	Data  string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl, which no process may run."`
	Crawl string `placeholder:"NAME" default:"weft" help:"Name of the crawl."`
	Apply bool   `help:"Mend what is damaged, and keep a copy of it. Without: only show it."`
}

// Run is called by kong.
func (c *ledgerRepairCmd) Run(_ context.Context, std streams) error {
	if err := topics.CheckCrawl(c.Crawl); err != nil {
		return usageError{err}
	}
	found, err := crawl.FindDamage(c.Data, topics.Loop(c.Crawl))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err = fmt.Fprintln(std.out, "nothing is damaged")
		return err
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LOG\tDAMAGED\tTO MEND IT")
	for _, d := range found {
		what := string(d.Mend)
		if d.Mend == crawl.MendBegins {
			what += fmt.Sprintf(": the checkpoint at %d holds what it said", d.Checkpoint)
		}
		fmt.Fprintf(table, "%s/%d\t%d to %d\t%s\n", d.Topic, d.Partition, d.From, d.To-1, what)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	if !c.Apply {
		_, err = fmt.Fprintln(std.out, "nothing was changed; --apply mends it")
		return err
	}
	aside := filepath.Join(c.Data, "damaged-"+time.Now().UTC().Format("20060102-150405"))
	if err := crawl.Repair(c.Data, aside, found); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "mended; the logs as they were are in %s\n", aside)
	return err
}

// look is reach for commands that only read: of damaged logs they show what can be
// read, and this says on to what cannot.
func (f *reachFlags) look(ctx context.Context, std streams) (release func(), err error) {
	return f.reachBy(ctx, func(ctx context.Context, dir string) (cluster.Access, func(), error) {
		return crawl.Look(ctx, dir, func(what string) {
			f.damaged = append(f.damaged, what)
			fmt.Fprintf(std.err, "weft: damaged, and left out: %s (see weft ledger repair --data %s)\n", what, dir)
		})
	})
}

// tellDamage returns what says that a partition of a ledger is read up to its
// damage only.
func tellDamage(std streams) func(int32, error) {
	return func(_ int32, err error) {
		fmt.Fprintf(std.err, "weft: damaged, and what follows is left out: %v\n", err)
	}
}
