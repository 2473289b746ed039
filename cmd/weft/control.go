package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/topics"
)

type pauseCmd struct {
	Stages []string `arg:"" optional:"" name:"stage" help:"normalize dedupe schedule fetch parse archive, or all. Default: fetch."`

	reachFlags
}

func (c *pauseCmd) Run(ctx context.Context, std streams) error {
	stages, err := parseStages(c.Stages, topics.Fetch)
	if err != nil {
		return err
	}
	return c.control(ctx, std, func(control topics.Control) topics.Control { return control.WithPaused(true, stages...) })
}

type resumeCmd struct {
	Stages []string `arg:"" optional:"" name:"stage" help:"normalize dedupe schedule fetch parse archive, or all. Default: all, which also ends a drain that was interrupted."`

	reachFlags
}

func (c *resumeCmd) Run(ctx context.Context, std streams) error {
	if len(c.Stages) == 0 {
		return c.control(ctx, std, func(topics.Control) topics.Control { return topics.Control{} })
	}
	stages, err := parseStages(c.Stages)
	if err != nil {
		return err
	}
	return c.control(ctx, std, func(control topics.Control) topics.Control { return control.WithPaused(false, stages...) })
}

// control changes the control record of the crawl and prints the result.
func (f *reachFlags) control(ctx context.Context, std streams, change func(topics.Control) topics.Control) error {
	open, err := f.open(ctx, std, crawl.ToWrite, topics.Loop(f.Crawl).Config)
	if err != nil {
		return err
	}
	defer open.close()
	var before topics.Control
	control, err := open.control(ctx, func(c topics.Control) topics.Control {
		before = c
		return change(c)
	})
	if err != nil {
		return err
	}
	state := control.String()
	switch {
	case state != "":
	case before.String() != "":
		state = "nothing is paused"
	default:
		status, err := open.status(ctx, open.Crawl, 0)
		if err != nil {
			return err
		}
		state = "nothing was paused; it is " + status.state()
	}
	_, err = fmt.Fprintf(std.out, "crawl %s: %s\n", f.Crawl, state)
	return err
}

func (c *openCrawl) control(ctx context.Context, change func(topics.Control) topics.Control) (topics.Control, error) {
	control, err := topics.WriteControl(ctx, c.names, change, c.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		err = usageError{err}
	}
	return control, err
}

type stopCmd struct {
	Stages []string `arg:"" optional:"" name:"stage" help:"normalize dedupe schedule fetch parse archive, or all. Default: all."`

	reachFlags
	Drain bool `help:"Begin no new request. Stop when all fetched pages are parsed and their links are queued."`
}

const (
	// stopTimeout bounds the wait for processes, which end within ten seconds.
	stopTimeout = 30 * time.Second
	// stopLook is the time between two readings of the status.
	stopLook = 200 * time.Millisecond
)

func (c *stopCmd) Run(ctx context.Context, std streams) error {
	stages, err := parseStages(c.Stages, topics.Groups()...)
	if err != nil {
		return err
	}
	open, err := c.open(ctx, std, crawl.ToWrite, topics.Loop(c.Crawl).Config)
	if err != nil {
		return err
	}
	defer open.close()
	members, err := open.members(ctx, open.names, topics.Groups())
	if err != nil {
		return err
	}
	running := slices.ContainsFunc(stages, func(s topics.Stage) bool { return members[s] > 0 })
	if !running {
		_, err := fmt.Fprintf(std.out, "crawl %s: no process runs a stage to stop\n", c.Crawl)
		return err
	}
	if c.Drain {
		ended, err := open.drain(ctx, std, members)
		if err != nil {
			return err
		}
		if ended {
			return c.stopped(std)
		}
	}
	if _, err := open.control(ctx, func(control topics.Control) topics.Control {
		control.Stop, control.Draining = stages, c.Drain
		return control
	}); err != nil {
		return err
	}
	if err := open.awaitEnd(ctx, stages); err != nil {
		return err
	}
	if c.Drain && len(stages) < len(topics.Groups()) {
		// Processes of other stages run on.
		if _, err := open.control(ctx, func(control topics.Control) topics.Control { return control }); err != nil {
			return err
		}
	}
	return c.stopped(std)
}

func (c *stopCmd) stopped(std streams) error {
	_, err := fmt.Fprintf(std.out, "crawl %s: stopped\n", c.Crawl)
	return err
}

// drain waits until all fetched pages are parsed and their links are queued. ended reports that the
// crawl ended by itself, as a crawl with the embedded broker does when nothing is queued.
func (c *openCrawl) drain(ctx context.Context, std streams, members map[topics.Stage]int) (ended bool, err error) {
	orders, err := topics.ReadOrders(ctx, c.names, c.client()...)
	if err != nil {
		return false, err
	}
	for _, s := range topics.Stages() {
		switch {
		case orders.Control.Pauses(s) && s != topics.Fetch: // a paused fetch has given its visits back
			return false, usagef("%s is paused, so the crawl cannot drain: weft resume %s", s, s)
		case members[s] == 0:
			return false, fmt.Errorf("no process runs %s, so the crawl cannot drain", s)
		}
	}
	if _, err := c.control(ctx, func(control topics.Control) topics.Control {
		control.Draining = true
		return control
	}); err != nil {
		return false, err
	}
	reader, err := status.NewMonitor(c.names, c.client()...)
	if err != nil {
		return false, err
	}
	defer reader.Close()
	var quiet status.Quiet
	var told time.Time
	for {
		read, err := reader.Read(ctx)
		if err != nil && c.dir != "" && ctx.Err() == nil && c.awaitEnd(ctx, topics.Groups()) == nil {
			return true, nil
		}
		if err != nil {
			return false, errors.Join(err, errors.New("the crawl is still draining: weft resume ends that"))
		}
		now, left := time.Now(), read.InFlight()
		if quiet.Ended(read, now) {
			return false, nil
		}
		if left != "" && now.Sub(told) >= 5*time.Second {
			told = now
			fmt.Fprintf(std.err, "draining: %s\n", left)
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("%w: the crawl is still draining, weft resume ends that", ctx.Err())
		case <-time.After(stopLook):
		}
	}
}

func (c *openCrawl) awaitEnd(ctx context.Context, stages []topics.Stage) error {
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for {
		running, err := c.running(ctx, stages)
		if err != nil || !running {
			return err
		}
		select {
		case <-asked.Done():
			return asked.Err()
		case <-ctx.Done():
			return fmt.Errorf("crawl %s was asked to stop, and still runs after %v", c.Crawl, stopTimeout)
		case <-time.After(stopLook):
		}
	}
}

func (c *openCrawl) members(ctx context.Context, names topics.Names, stages []topics.Stage) (map[topics.Stage]int, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	return status.Members(ctx, names, c.admin, stages...)
}

// describeTimeout bounds one answer of a cluster that has answered before.
const describeTimeout = 10 * time.Second

// running reports whether a process runs one of the stages. The embedded broker ends
// with its process.
func (c *openCrawl) running(ctx context.Context, stages []topics.Stage) (bool, error) {
	if c.dir != "" {
		used, err := crawl.InUse(c.dir)
		if err != nil || !used || len(stages) >= len(topics.Stages()) {
			return used, err
		}
	}
	members, err := c.members(ctx, c.names, stages)
	if err != nil && c.dir != "" {
		return true, nil // the process is about to end
	}
	return slices.ContainsFunc(stages, func(s topics.Stage) bool { return members[s] > 0 }), err
}
