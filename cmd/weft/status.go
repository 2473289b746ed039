package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
)

type statusCmd struct {
	reachFlags
	Interval time.Duration `placeholder:"DUR" default:"2s" help:"Time over which rates are measured; 0: no rates."`
	All      bool          `help:"A line for each crawl of the cluster: frontier, rate, and of each stage the lag and what it consumes."`
}

// Run is called by kong.
func (c *statusCmd) Run(ctx context.Context, std streams) error {
	if c.Interval < 0 {
		return usagef("--interval %v is negative", c.Interval)
	}
	release, err := c.reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	if c.All {
		return c.all(ctx, std.out)
	}
	names := topics.Loop(c.Crawl)
	if err := c.exists(ctx, names.Scheduled); err != nil {
		return err
	}
	reader, err := drain.NewReader(names, c.client()...)
	if err != nil {
		return err
	}
	defer reader.Close()
	control, _, err := topics.ReadControl(ctx, names, c.client()...)
	if err != nil && !errors.Is(err, topics.ErrUndefined) {
		return err
	}
	before, err := reader.Read(ctx)
	if err != nil {
		return err
	}
	if c.Interval == 0 {
		return writeStatus(std.out, c.Crawl, control, before, before, 0)
	}
	begun := time.Now()
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(c.Interval):
	}
	after, err := reader.Read(ctx)
	if err != nil {
		return err
	}
	return writeStatus(std.out, c.Crawl, control, before, after, time.Since(begun))
}

// writeStatus prints a reading, and rates since an earlier one when elapsed is
// not 0.
func writeStatus(out io.Writer, crawl string, control topics.Control, before, after drain.Status, elapsed time.Duration) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	rate := func(difference int64) string { return perSecond(difference, elapsed) }
	row := func(name string, now, then int64) {
		fmt.Fprintf(table, "  %s\t%s\t%s\t\n", name, progress.Count(now), rate(now-then))
	}
	fmt.Fprintf(out, "crawl %s: %s\n", crawl, state(control, after))
	now, then := after.Gauges, before.Gauges
	fmt.Fprintln(table, "FRONTIER\tNOW\tRATE\t")
	row("URLs pending", now.GetPending(), then.GetPending())
	row("of these queued", now.GetQueued(), then.GetQueued())
	row("of these out", now.GetOut(), then.GetOut())
	row("domains", now.GetDomains(), then.GetDomains())
	row("of these active", now.GetDomainsOut(), then.GetDomainsOut())
	row("fetched", now.GetFetched(), then.GetFetched())
	row("failed", now.GetFailed(), then.GetFailed())
	row("refused", now.GetRefused(), then.GetRefused())
	fmt.Fprintln(table, "STAGE\tLAG\tCONSUMES\t")
	for _, stage := range topics.Stages() {
		fmt.Fprintf(table, "  %s\t%s\t%s\t\n", stage, progress.Count(after.Behind(stage)), rate(consumed(after, stage)-consumed(before, stage)))
	}
	return table.Flush()
}

// state is the crawl's in a word or a few.
func state(control topics.Control, status drain.Status) string {
	switch held := control.String(); {
	case status.Drained():
		return "drained"
	case held != "":
		return held
	}
	return "running"
}

// perSecond is a rate, or nothing when no time has passed.
func perSecond(difference int64, elapsed time.Duration) string {
	if elapsed == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f/s", float64(difference)/elapsed.Seconds())
}

// consumed sums the offsets that a stage has committed.
func consumed(s drain.Status, stage topics.Stage) (records int64) {
	for _, lag := range s.Lags {
		if lag.Stage == stage {
			records += max(lag.Committed, lag.Start)
		}
	}
	return records
}
