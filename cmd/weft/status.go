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

	"github.com/twmb/franz-go/pkg/kadm"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/progress"
	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/trouble"
)

type statusCmd struct {
	reachFlags
	Interval time.Duration `placeholder:"DUR" default:"0s" help:"Wait so long and show rates over that time; without it: no rates, at once."`
	All      bool          `help:"A line for each crawl of the cluster: frontier, rate, and of each stage the lag and what it consumes."`
}

// Run is called by kong.
func (c *statusCmd) Run(ctx context.Context, std streams) error {
	if c.Interval < 0 {
		return usagef("--interval %v is negative", c.Interval)
	}
	release, err := c.look(ctx, std)
	if err != nil {
		return err
	}
	defer release()
	admin, err := c.admin(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	if c.All {
		return c.all(ctx, admin, std.out)
	}
	if err := existsIn(ctx, admin, topics.Loop(c.Crawl).Scheduled); err != nil {
		return err
	}
	s, err := c.read(ctx, admin, c.Crawl)
	if err != nil || ctx.Err() != nil {
		return err
	}
	return writeStatus(std.out, s)
}

// crawlStatus is how one crawl is, and was an interval before.
type crawlStatus struct {
	name          string
	control       topics.Control
	members       map[topics.Stage]int
	troubles      []trouble.Trouble
	before, after drain.Status
	elapsed       time.Duration // between the two; 0: there is one reading
}

// read reads a crawl's status, and again after the interval. What does not
// depend on each other is asked for at the same time.
func (c *statusCmd) read(ctx context.Context, admin *kadm.Client, crawl string) (crawlStatus, error) {
	names := topics.Loop(crawl)
	s := crawlStatus{name: crawl}
	reader, err := drain.NewReader(names, c.client()...)
	if err != nil {
		return s, err
	}
	defer reader.Close()
	reading, readCtx := errgroup.WithContext(ctx)
	reading.Go(func() (err error) {
		s.control, _, err = topics.ReadControl(readCtx, names, c.client()...)
		if errors.Is(err, topics.ErrUndefined) {
			err = nil
		}
		return err
	})
	reading.Go(func() (err error) {
		s.members, err = members(readCtx, admin, names, topics.Stages())
		return err
	})
	reading.Go(func() (err error) {
		s.troubles, err = trouble.Read(readCtx, names, admin, time.Now())
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
	if s.after = s.before; c.Interval == 0 {
		return s, nil
	}
	select {
	case <-ctx.Done():
		return s, nil
	case <-time.After(c.Interval):
	}
	s.after, err = reader.Read(ctx)
	s.elapsed = time.Since(begun)
	return s, err
}

// writeStatus prints how a crawl is.
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
	if open := s.after.Transaction(); open != "" {
		fmt.Fprintf(out, "  %s\n", open)
	}
	heading := "NOW\t\t"
	if s.elapsed > 0 {
		heading = "NOW\tRATE\t"
	}
	now, then := s.after.Gauges, s.before.Gauges
	fmt.Fprintf(table, "FRONTIER\t%s\n", heading)
	row("URLs pending", now.GetPending(), then.GetPending())
	row("of these queued", now.GetQueued(), then.GetQueued())
	row("of these out", now.GetOut(), then.GetOut())
	row("domains", now.GetDomains(), then.GetDomains())
	row("of these active", now.GetDomainsOut(), then.GetDomainsOut())
	row("fetched", now.GetFetched(), then.GetFetched())
	row("failed", now.GetFailed(), then.GetFailed())
	row("refused", now.GetRefused(), then.GetRefused())
	row("withdrawn", now.GetWithdrawn(), then.GetWithdrawn())
	if s.after.Strangers > 0 {
		row("others' records", s.after.Strangers, s.before.Strangers)
	}
	heading = "LAG\t\t"
	if s.elapsed > 0 {
		heading = "LAG\tCONSUMES\t"
	}
	fmt.Fprintf(table, "STAGE\t%s\n", heading)
	for _, stage := range topics.Stages() {
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

// state is the crawl's in a word or a few.
func (s crawlStatus) state() string {
	var failing, idle []string
	disk := false
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
		disk = disk || t.Kind == trouble.Disk
	}
	switch held := s.control.String(); {
	case len(s.after.Damaged) > 0:
		return "damaged"
	case s.after.Drained():
		return "drained"
	case held != "":
		return held
	case len(failing) > 0:
		return "failing: " + strings.Join(failing, " ")
	case len(idle) == len(topics.Stages()):
		return "stopped: no process runs it"
	case len(idle) > 0:
		return "stopped: no process runs " + strings.Join(idle, " ")
	case disk:
		return "waiting for free disk"
	}
	return "running"
}

// sentence is a trouble for people.
func sentence(t trouble.Trouble) string {
	if t.Kind != trouble.Fails {
		return fmt.Sprintf("%s of %s: %s", t.Stage, t.Member, t.Says)
	}
	return fmt.Sprintf("%s of %s has failed %d times in a row since %s, last at %s: %s",
		t.Stage, t.Member, t.Times, t.Since.Local().Format(time.DateTime), t.At.Local().Format(time.TimeOnly), t.Says)
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
