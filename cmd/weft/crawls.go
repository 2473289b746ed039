package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

// crawlStatus is how one crawl of a cluster is, and was an interval before.
type crawlStatus struct {
	name          string
	control       topics.Control
	before, after drain.Status
}

// all prints a line for each crawl of the cluster.
func (c *statusCmd) all(ctx context.Context, out io.Writer) error {
	admin, err := c.admin(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	names, err := topics.Crawls(ctx, admin)
	if err != nil {
		return err
	}
	crawls := make([]crawlStatus, len(names))
	reading, readCtx := errgroup.WithContext(ctx)
	reading.SetLimit(readAtOnce)
	for i, name := range names {
		reading.Go(func() (err error) {
			crawls[i], err = c.readTwice(readCtx, name)
			return err
		})
	}
	if err := reading.Wait(); err != nil || ctx.Err() != nil {
		return err
	}
	return writeCrawls(out, crawls, c.Interval)
}

// readAtOnce bounds how many crawls are read at the same time.
const readAtOnce = 16

// readTwice reads a crawl's status, and again after the interval.
func (c *statusCmd) readTwice(ctx context.Context, name string) (crawlStatus, error) {
	loop := topics.Loop(name)
	s := crawlStatus{name: name}
	reader, err := drain.NewReader(loop, c.client()...)
	if err != nil {
		return s, err
	}
	defer reader.Close()
	s.control, _, err = topics.ReadControl(ctx, loop, c.client()...)
	if err != nil && !errors.Is(err, topics.ErrUndefined) {
		return s, err
	}
	if s.before, err = reader.Read(ctx); err != nil {
		return s, err
	}
	if s.after = s.before; c.Interval == 0 {
		return s, nil
	}
	select {
	case <-ctx.Done():
		return s, nil
	case <-time.After(c.Interval):
	}
	s.after, err = reader.Read(ctx)
	return s, err
}

// writeCrawls prints how crawls are; rates when elapsed is not 0.
func writeCrawls(out io.Writer, crawls []crawlStatus, elapsed time.Duration) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "CRAWL\tSTATE\tPENDING\tFETCHED\tRATE")
	for _, stage := range topics.Stages() {
		fmt.Fprintf(table, "\t%s", stage)
	}
	fmt.Fprintln(table)
	for _, c := range crawls {
		now := c.after.Gauges
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s", c.name, state(c.control, c.after), progress.Count(now.GetPending()),
			progress.Count(now.GetFetched()), perSecond(now.GetFetched()-c.before.Gauges.GetFetched(), elapsed))
		for _, stage := range topics.Stages() {
			fmt.Fprintf(table, "\t%s", progress.Count(c.after.Behind(stage)))
			if elapsed > 0 {
				fmt.Fprintf(table, " (%s)", perSecond(consumed(c.after, stage)-consumed(c.before, stage), elapsed))
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
