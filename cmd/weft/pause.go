package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/topics"
)

type pauseCmd struct {
	Stages []string `arg:"" optional:"" name:"stage" help:"normalize dedupe schedule fetch parse, or all. Default: fetch."`

	reachFlags
}

// Run is called by kong.
func (c *pauseCmd) Run(ctx context.Context, std streams) error {
	stages := []topics.Stage{topics.Fetch}
	if len(c.Stages) > 0 {
		var err error
		if stages, err = parseStages(c.Stages); err != nil {
			return err
		}
	}
	return c.control(ctx, std, func(control topics.Control) topics.Control { return control.WithPaused(true, stages...) })
}

type resumeCmd struct {
	Stages []string `arg:"" optional:"" name:"stage" help:"normalize dedupe schedule fetch parse, or all. Default: all, and a drain that did not come to its end."`

	reachFlags
}

// Run is called by kong.
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

// control reaches the crawl, changes what is asked of it and prints the result.
func (f *reachFlags) control(ctx context.Context, std streams, change func(topics.Control) topics.Control) error {
	release, err := f.reach(ctx)
	if err != nil {
		return err
	}
	defer release()
	var before topics.Control
	control, err := f.ask(ctx, func(c topics.Control) topics.Control {
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
		status, err := f.status(ctx)
		if err != nil {
			return err
		}
		state = "nothing was paused; it is " + status.state()
	}
	_, err = fmt.Fprintf(std.out, "crawl %s: %s\n", f.Crawl, state)
	return err
}

// ask changes what is asked of a crawl that is reached.
func (f *reachFlags) ask(ctx context.Context, change func(topics.Control) topics.Control) (topics.Control, error) {
	names := topics.Loop(f.Crawl)
	if err := f.exists(ctx, names.Config); err != nil {
		return topics.Control{}, err
	}
	control, err := topics.WriteControl(ctx, names, change, f.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		err = usageError{err}
	}
	return control, err
}

// status reads how the crawl is.
func (f *reachFlags) status(ctx context.Context) (crawlStatus, error) {
	admin, err := f.admin(ctx)
	if err != nil {
		return crawlStatus{}, err
	}
	defer admin.Close()
	return (&statusCmd{reachFlags: *f}).read(ctx, admin, f.Crawl)
}
