package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/topics"
)

type statusCmd struct {
	reachFlags
	Interval time.Duration `placeholder:"DUR" default:"0s" help:"Wait for this time and show the rates. By default there is no wait and no rate."`
	All      bool          `help:"Print a line for each crawl of the cluster, with its frontier and the lag of each stage. With --interval also rates."`
}

func (c *statusCmd) Run(ctx context.Context, std streams) error {
	if c.Interval < 0 {
		return usagef("--interval %v is negative", c.Interval)
	}
	mustExist := topics.Loop(c.Crawl).Scheduled
	if c.All {
		mustExist = ""
	}
	open, err := c.open(ctx, std, crawl.ToRead, mustExist)
	if err != nil {
		return err
	}
	defer open.close()
	if c.All {
		return open.statusOfAll(ctx, c.Interval, std.out)
	}
	s, err := open.status(ctx, c.Crawl, c.Interval)
	if err != nil || ctx.Err() != nil {
		return err
	}
	return writeStatus(std.out, s)
}

// crawlStatus is the status of one crawl, now and an interval before.
type crawlStatus struct {
	name          string
	control       topics.Control
	members       map[topics.Stage]int
	troubles      []trouble.Trouble
	before, after status.Status
	elapsed       time.Duration // between the two; 0: the status was read once
}

// status reads the status of a crawl of the cluster, and again after the interval if
// that is not 0. Independent requests are made at the same time.
func (c *openCrawl) status(ctx context.Context, crawl string, interval time.Duration) (crawlStatus, error) {
	names := topics.Loop(crawl)
	s := crawlStatus{name: crawl}
	reader, err := status.NewMonitor(names, c.client()...)
	if err != nil {
		return s, err
	}
	defer reader.Close()
	reading, readCtx := errgroup.WithContext(ctx)
	reading.Go(func() error {
		orders, err := topics.ReadOrders(readCtx, names, c.client()...)
		s.control = orders.Control
		if errors.Is(err, topics.ErrUndefined) {
			err = nil
		}
		return err
	})
	reading.Go(func() (err error) {
		s.members, err = c.members(readCtx, names, topics.Stages())
		return err
	})
	reading.Go(func() (err error) {
		s.troubles, err = trouble.Read(readCtx, names, c.admin, time.Now())
		return err
	})
	reading.Go(func() (err error) {
		s.before, err = reader.Read(readCtx)
		return err
	})
	begun := time.Now()
	if err := reading.Wait(); err != nil {
		return s, err
	}
	if s.after = s.before; interval == 0 {
		return s, nil
	}
	select {
	case <-ctx.Done():
		return s, nil
	case <-time.After(interval):
	}
	s.after, err = reader.Read(ctx)
	s.elapsed = time.Since(begun)
	return s, err
}

func writeStatus(out io.Writer, s crawlStatus) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	rate := func(difference int64) string { return perSecond(difference, s.elapsed) }
	row := func(name string, now, then int64) {
		fmt.Fprintf(table, "  %s\t%s\t%s\t\n", name, progress.Count(now), rate(now-then))
	}
	fmt.Fprintf(out, "crawl %s: %s\n", s.name, s.state())
	for _, t := range s.troubles {
		fmt.Fprintf(out, "  %s\n", sentence(t))
	}
	for _, line := range []string{s.after.Lost(), s.after.Transaction()} {
		if line != "" {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	heading := func(what, now, rate string) {
		if s.elapsed == 0 {
			rate = ""
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", what, now, rate)
	}
	now, then := s.after.Gauges, s.before.Gauges
	heading("FRONTIER", "NOW", "RATE")
	row("URLs pending", now.GetPending(), then.GetPending())
	row("of these queued", now.GetQueued(), then.GetQueued())
	row("of these out", now.GetOut(), then.GetOut())
	row("domains", now.GetDomains(), then.GetDomains())
	row("of these active", now.GetDomainsOut(), then.GetDomainsOut())
	row("fetched", now.GetFetched(), then.GetFetched())
	row("failed", now.GetFailed(), then.GetFailed())
	row("refused", now.GetRefused(), then.GetRefused())
	row("withdrawn", now.GetWithdrawn(), then.GetWithdrawn())
	row("hosts down", now.GetDown(), then.GetDown())
	row("blocked", now.GetBlocked(), then.GetBlocked())
	if s.after.Strangers > 0 {
		row("others' records", s.after.Strangers, s.before.Strangers)
	}
	heading("STAGE", "LAG", "CONSUMES")
	for _, stage := range topics.Groups() {
		if topics.KindOf(stage) == topics.Archiver && !slices.ContainsFunc(s.after.Lags, func(l status.Lag) bool { return l.Stage == stage }) {
			continue
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t\n", stage, progress.Count(s.after.Behind(stage)), rate(consumed(s.after, stage)-consumed(s.before, stage)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, damage := range s.after.Damaged {
		fmt.Fprintf(out, "damaged, and not counted above: %v\n", damage)
	}
	return nil
}

// state describes the crawl in one or a few words.
func (s crawlStatus) state() string {
	var failing, idle []string
	disk, behind := false, false
	for _, stage := range topics.Stages() {
		fails := slices.ContainsFunc(s.troubles, func(t trouble.Trouble) bool { return t.Kind == trouble.Fails && t.Stage == stage })
		switch {
		case fails:
			failing = append(failing, string(stage))
		case s.members[stage] == 0:
			idle = append(idle, string(stage))
		}
	}
	for _, t := range s.troubles {
		disk, behind = disk || t.Kind == trouble.Disk, behind || t.Kind == trouble.Archive
	}
	switch asked := s.control.String(); {
	case len(s.after.Damaged) > 0:
		return "damaged"
	case s.after.Drained():
		return "drained"
	case asked != "":
		return asked
	case len(failing) > 0:
		return "failing: " + strings.Join(failing, " ")
	case len(idle) == len(topics.Stages()):
		return "stopped: no process runs it"
	case len(idle) > 0:
		return "stopped: no process runs " + strings.Join(idle, " ")
	case disk:
		return "waiting for free disk"
	case behind:
		return "waiting for the archive"
	}
	return "running"
}

func sentence(t trouble.Trouble) string {
	if t.Kind != trouble.Fails {
		return fmt.Sprintf("%s of %s: %s", t.Stage, t.Member, t.Says)
	}
	if t.Times == 1 {
		return fmt.Sprintf("%s of %s failed at %s: %s", t.Stage, t.Member, t.At.Local().Format(time.DateTime), t.Says)
	}
	return fmt.Sprintf("%s of %s has failed %d times in a row since %s, last at %s: %s",
		t.Stage, t.Member, t.Times, t.Since.Local().Format(time.DateTime), t.At.Local().Format(time.TimeOnly), t.Says)
}

// perSecond is a rate; empty when no time has passed.
func perSecond(difference int64, elapsed time.Duration) string {
	if elapsed == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f/s", float64(difference)/elapsed.Seconds())
}

// consumed sums the offsets that a stage has committed.
func consumed(s status.Status, stage topics.Stage) (records int64) {
	for _, lag := range s.Lags {
		if lag.Stage == stage {
			records += max(lag.Committed, lag.Start)
		}
	}
	return records
}

func (c *openCrawl) statusOfAll(ctx context.Context, interval time.Duration, out io.Writer) error {
	names, err := topics.Crawls(ctx, c.admin)
	if err != nil {
		return err
	}
	crawls := make([]crawlStatus, len(names))
	reading, readCtx := errgroup.WithContext(ctx)
	reading.SetLimit(readAtOnce)
	for i, name := range names {
		reading.Go(func() (err error) {
			crawls[i], err = c.status(readCtx, name, interval)
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

// writeCrawls prints a line for each crawl, with rates if the status was read twice.
func writeCrawls(out io.Writer, crawls []crawlStatus) error {
	table := progress.NewTable(out)
	heading := []any{"CRAWL", "STATE", "PENDING", "FETCHED", "RATE"}
	for _, stage := range topics.Stages() {
		heading = append(heading, stage)
	}
	table.Row(heading...)
	for _, c := range crawls {
		now := c.after.Gauges
		row := []any{
			c.name, c.state(), progress.Count(now.GetPending()), progress.Count(now.GetFetched()),
			perSecond(now.GetFetched()-c.before.Gauges.GetFetched(), c.elapsed),
		}
		for _, stage := range topics.Stages() {
			lag := progress.Count(c.after.Behind(stage))
			if c.elapsed > 0 {
				lag += fmt.Sprintf(" (%s)", perSecond(consumed(c.after, stage)-consumed(c.before, stage), c.elapsed))
			}
			row = append(row, lag)
		}
		table.Row(row...)
	}
	return table.Flush()
}
