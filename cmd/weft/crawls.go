package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/twmb/franz-go/pkg/kadm"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

// all prints a line for each crawl of the cluster.
func (c *statusCmd) all(ctx context.Context, admin *kadm.Client, out io.Writer) error {
	names, err := topics.Crawls(ctx, admin)
	if err != nil {
		return err
	}
	crawls := make([]crawlStatus, len(names))
	reading, readCtx := errgroup.WithContext(ctx)
	reading.SetLimit(readAtOnce)
	for i, name := range names {
		reading.Go(func() (err error) {
			crawls[i], err = c.read(readCtx, admin, name)
			return err
		})
	}
	if err := reading.Wait(); err != nil || ctx.Err() != nil {
		return err
	}
	return writeCrawls(out, crawls)
}

// readAtOnce bounds how many crawls are read at the same time.
const readAtOnce = 16

// writeCrawls prints how crawls are; rates where there are two readings.
func writeCrawls(out io.Writer, crawls []crawlStatus) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "CRAWL\tSTATE\tPENDING\tFETCHED\tRATE")
	for _, stage := range topics.Stages() {
		fmt.Fprintf(table, "\t%s", stage)
	}
	fmt.Fprintln(table)
	for _, c := range crawls {
		now := c.after.Gauges
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s", c.name, c.state(), progress.Count(now.GetPending()),
			progress.Count(now.GetFetched()), perSecond(now.GetFetched()-c.before.Gauges.GetFetched(), c.elapsed))
		for _, stage := range topics.Stages() {
			fmt.Fprintf(table, "\t%s", progress.Count(c.after.Behind(stage)))
			if c.elapsed > 0 {
				fmt.Fprintf(table, " (%s)", perSecond(consumed(c.after, stage)-consumed(c.before, stage), c.elapsed))
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
