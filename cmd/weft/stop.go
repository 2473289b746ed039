package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/drain"
	"github.com/weftcrawl/weft/topics"
)

type stopCmd struct {
	Stages []string `arg:"" optional:"" name:"stage" help:"normalize dedupe schedule fetch parse, or all. Default: all."`

	reachFlags
	Drain bool `help:"Begin nothing new, and stop when everything under way is parsed and queued."`
}

const (
	// stopTimeout bounds the wait for processes to end, which they do within
	// ten seconds.
	stopTimeout = 30 * time.Second
	// stopLook is the time between two looks at what goes on.
	stopLook = 200 * time.Millisecond
)

// Run is called by kong.
func (c *stopCmd) Run(ctx context.Context, std streams) error {
	stages := topics.Stages()
	if len(c.Stages) > 0 {
		var err error
		if stages, err = parseStages(c.Stages); err != nil {
			return err
		}
	}
	release, err := c.reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := c.exists(ctx, topics.Loop(c.Crawl).Config); err != nil {
		return err
	}
	admin, err := c.admin(ctx)
	if err != nil {
		return err
	}
	defer admin.Close()
	members, err := members(ctx, admin, topics.Loop(c.Crawl), topics.Stages())
	if err != nil {
		return err
	}
	running := slices.ContainsFunc(stages, func(s topics.Stage) bool { return members[s] > 0 })
	if !running {
		_, err := fmt.Fprintf(std.out, "crawl %s: no process runs what is to be stopped\n", c.Crawl)
		return err
	}
	if c.Drain {
		ended, err := c.drain(ctx, std, admin, members)
		if err != nil {
			return err
		}
		if ended {
			return c.stopped(std)
		}
	}
	if _, err := c.ask(ctx, func(control topics.Control) topics.Control {
		control.Stop, control.Draining = stages, c.Drain
		return control
	}); err != nil {
		return err
	}
	if err := c.ended(ctx, admin, stages); err != nil {
		return err
	}
	if c.Drain && len(stages) < len(topics.Stages()) {
		// Processes of other stages run on.
		if _, err := c.ask(ctx, func(control topics.Control) topics.Control { return control }); err != nil {
			return err
		}
	}
	return c.stopped(std)
}

func (c *stopCmd) stopped(std streams) error {
	_, err := fmt.Fprintf(std.out, "crawl %s: stopped\n", c.Crawl)
	return err
}

// drain lets the crawl finish what is under way. It tells whether the crawl came
// to its end by itself, as an embedded one does when nothing is queued.
func (c *stopCmd) drain(ctx context.Context, std streams, admin *kadm.Client, members map[topics.Stage]int) (ended bool, err error) {
	names := topics.Loop(c.Crawl)
	control, _, err := topics.ReadControl(ctx, names, c.client()...)
	if err != nil {
		return false, err
	}
	for _, s := range topics.Stages() {
		switch {
		case control.Pauses(s) && s != topics.Fetch: // which has given back what it had
			return false, usagef("%s is paused, so that what is under way cannot be finished: weft resume %s", s, s)
		case members[s] == 0:
			return false, fmt.Errorf("no process runs %s, so that what is under way cannot be finished", s)
		}
	}
	if _, err := c.ask(ctx, func(control topics.Control) topics.Control {
		control.Draining = true
		return control
	}); err != nil {
		return false, err
	}
	reader, err := drain.NewReader(names, c.client()...)
	if err != nil {
		return false, err
	}
	defer reader.Close()
	// Schedulers hear of it at about the same moment, and what one of them has
	// released in between shows: only a second without anything is an end.
	var quiet, told time.Time
	for {
		status, err := reader.Read(ctx)
		if err != nil && c.embedded && ctx.Err() == nil && c.ended(ctx, admin, topics.Stages()) == nil {
			return true, nil
		}
		if err != nil {
			return false, errors.Join(err, errors.New("the crawl is draining still: weft resume ends that"))
		}
		now, left := time.Now(), status.InFlight()
		switch {
		case left != "":
			quiet = time.Time{}
		case quiet.IsZero():
			quiet = now
		case now.Sub(quiet) >= time.Second:
			return false, nil
		}
		if left != "" && now.Sub(told) >= 5*time.Second {
			told = now
			fmt.Fprintf(std.err, "draining: %s\n", left)
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("%w: the crawl is draining still, weft resume ends that", ctx.Err())
		case <-time.After(stopLook):
		}
	}
}

// ended waits until no process runs the stages any more.
func (c *stopCmd) ended(ctx context.Context, admin *kadm.Client, stages []topics.Stage) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for {
		running, err := c.running(ctx, admin, stages)
		if err != nil || !running {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("crawl %s was asked to stop, and runs on after %v", c.Crawl, stopTimeout)
		case <-time.After(stopLook):
		}
	}
}

// running tells whether a process runs one of the stages. The embedded broker
// ends with its process.
func (c *stopCmd) running(ctx context.Context, admin *kadm.Client, stages []topics.Stage) (bool, error) {
	if c.embedded {
		used, err := crawl.InUse(c.Data)
		if err != nil || !used || len(stages) == len(topics.Stages()) {
			return used, err
		}
	}
	members, err := members(ctx, admin, topics.Loop(c.Crawl), stages)
	if err != nil && c.embedded {
		return true, nil // it is about to end
	}
	return slices.ContainsFunc(stages, func(s topics.Stage) bool { return members[s] > 0 }), err
}
