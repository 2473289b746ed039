package main

import (
	"context"
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// engine is what the commands crawl and run drive: crawl.Run and crawl.RunStages. Tests of the
// command line have one that records its options.
type engine struct {
	run       func(ctx context.Context, options crawl.Options) (crawl.Result, error)
	runStages func(ctx context.Context, options crawl.Options, stages []topics.Stage) error
}

// telling is the engine, and calls ordered when weft stop orders the process to end.
func (e engine) telling(ordered func()) engine {
	return engine{
		run: func(ctx context.Context, options crawl.Options) (crawl.Result, error) {
			options.Ordered = ordered
			return e.run(ctx, options)
		},
		runStages: func(ctx context.Context, options crawl.Options, stages []topics.Stage) error {
			options.Ordered = ordered
			return e.runStages(ctx, options, stages)
		},
	}
}

type runCmd struct {
	Stages []string `arg:"" name:"stage" help:"normalize dedupe schedule fetch parse archive, or all."`

	clusterFlags
	serviceFlags
	checkpointFlags
	groupFlags
}

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
	if definition.Archive == "" || definition.Archive == topics.InData {
		if slices.Contains(c.Stages, string(topics.Archive)) {
			return usagef("crawl %s has no archive that this process can reach: weft topics create --archive gives it one", c.Crawl)
		}
		stages = slices.DeleteFunc(stages, func(s topics.Stage) bool { return topics.KindOf(s) == topics.Archiver })
	}
	defer c.boundMemory(ctx)()
	registry := prometheus.NewRegistry()
	return c.serveMetrics(ctx, registry, func(ctx context.Context) error {
		return eng.runStages(ctx, crawl.Options{
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

// parseStages returns the named stages in the order of the loop, each once; without names it returns
// byDefault.
func parseStages(names []string, byDefault ...topics.Stage) ([]topics.Stage, error) {
	if len(names) == 0 {
		return byDefault, nil
	}
	all := topics.Groups()
	wanted := map[topics.Stage]bool{}
	for _, name := range names {
		switch stage := topics.Stage(name); {
		case name == "all":
			return all, nil
		case slices.Contains(all, stage):
			wanted[stage] = true
		default:
			return nil, usagef("%q is not a stage: normalize, dedupe, schedule, fetch, parse, archive, or all", name)
		}
	}
	return slices.DeleteFunc(all, func(stage topics.Stage) bool { return !wanted[stage] }), nil
}
