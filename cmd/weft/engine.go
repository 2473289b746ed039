package main

import (
	"context"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// engine is what crawl and run drive; tests of the command line have one that
// tells what it was asked.
type engine interface {
	// Run makes a crawl in this process, until it is done or ctx is.
	Run(ctx context.Context, options crawl.Options) (crawl.Result, error)
	// RunStages takes part in a crawl on a cluster, until ctx is done.
	RunStages(ctx context.Context, options crawl.Options, stages []topics.Stage) error
}

// loop is the real one.
type loop struct{}

func (loop) Run(ctx context.Context, options crawl.Options) (crawl.Result, error) {
	return crawl.Run(ctx, options)
}

func (loop) RunStages(ctx context.Context, options crawl.Options, stages []topics.Stage) error {
	return crawl.RunStages(ctx, options, stages)
}
