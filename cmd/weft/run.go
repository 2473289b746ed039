package main

import (
	"context"
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

type runCmd struct {
	Stages []string `arg:"" name:"stage" help:"normalize dedupe schedule fetch parse, or all."`

	clusterFlags
	serviceFlags
	checkpointFlags
	groupFlags
}

// Run is called by kong.
func (c *runCmd) Run(ctx context.Context, root *cli, eng engine, std streams) error {
	stages, err := parseStages(c.Stages)
	if err != nil {
		return err
	}
	if err := c.checkRemote(); err != nil {
		return err
	}
	if err := errors.Join(c.serviceFlags.check(), c.groupFlags.check()); err != nil {
		return err
	}
	if err := c.makeData(); err != nil {
		return err
	}
	if err := c.access().Ping(ctx); err != nil {
		return err
	}
	definition, err := topics.ReadDefinition(ctx, topics.Loop(c.Crawl), c.client()...)
	if errors.Is(err, topics.ErrUndefined) {
		return usagef("%w: make it with weft topics create", err)
	}
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	return serving(ctx, c.Metrics, registry, func(ctx context.Context) error {
		return eng.RunStages(ctx, crawl.Options{
			Dir:         c.Data,
			Cluster:     c.access(),
			Checkpoints: c.Checkpoints,
			Reserve:     int64(c.DiskReserve),
			Definition:  definition,
			Fetch:       c.fetchOptions(),
			Registry:    registry,
			Logger:      root.logger(std.err),
		}, stages)
	})
}

// parseStages returns the named stages in the order of the loop, each once.
func parseStages(names []string) ([]topics.Stage, error) {
	all := topics.Stages()
	wanted := map[topics.Stage]bool{}
	for _, name := range names {
		switch stage := topics.Stage(name); {
		case name == "all":
			return all, nil
		case slices.Contains(all, stage):
			wanted[stage] = true
		default:
			return nil, usagef("%q is not a stage: normalize, dedupe, schedule, fetch, parse, or all", name)
		}
	}
	return slices.DeleteFunc(all, func(stage topics.Stage) bool { return !wanted[stage] }), nil
}
