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
	control, err := f.ask(ctx, change)
	if err != nil {
		return err
	}
	state := control.String()
	if state == "" {
		state = "nothing is paused"
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
