package processors

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/dedupe"
	"github.com/weftcrawl/weft/processors/fetch"
	"github.com/weftcrawl/weft/processors/normalize"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/processors/schedule"
	"github.com/weftcrawl/weft/topics"
)

// Stage is a row of the loop: which topics a stage reads and writes, and the
// functions that run it.
type Stage struct {
	topics.Step
	// Run runs the stage until ctx ends.
	Run func(ctx context.Context, env stage.Env, o Options) error
	// Transform returns the function that makes a worker's outputs of one record. It is nil if
	// the stage is not a worker.
	Transform func(env stage.Env) (stage.Transform, error)
	// Define returns the ledger processor of a stage with a ledger. It is nil if the stage has no
	// ledger. While diskLow is true, the processor of schedule releases no visit.
	Define func(env stage.Env, diskLow *atomic.Bool) ledger.Processor
}

// Options are the options of stages that a crawl's definition does not say.
type Options struct {
	Fetch   fetch.Options
	Archive archive.Options
}

// Loop returns the stages of the loop, in its order. To add a stage, add its
// topics to topics.Names.Steps, its functions here, and a folder beside this file.
func Loop(names topics.Names) []Stage {
	bound := map[topics.Stage]Stage{
		topics.Normalize: {
			Run:       func(ctx context.Context, env stage.Env, _ Options) error { return normalize.Run(ctx, env) },
			Transform: normalize.New,
		},
		topics.Dedupe: {
			Run:    func(ctx context.Context, env stage.Env, _ Options) error { return dedupe.Run(ctx, env) },
			Define: func(env stage.Env, _ *atomic.Bool) ledger.Processor { return dedupe.Define(env) },
		},
		topics.Schedule: {
			Run:    func(ctx context.Context, env stage.Env, _ Options) error { return schedule.Run(ctx, env) },
			Define: schedule.Define,
		},
		topics.Fetch: {
			Run: func(ctx context.Context, env stage.Env, o Options) error { return fetch.Run(ctx, env, o.Fetch) },
		},
		topics.Parse: {
			Run:       func(ctx context.Context, env stage.Env, _ Options) error { return parse.Run(ctx, env) },
			Transform: parse.New,
		},
		topics.Archive: {
			Run: func(ctx context.Context, env stage.Env, o Options) error { return archive.Run(ctx, env, o.Archive) },
		},
	}
	var loop []Stage
	for _, step := range names.Steps() {
		if row, ok := bound[step.Stage]; ok {
			row.Step = step
			loop = append(loop, row)
		}
	}
	return loop
}

// Find returns the row of a stage of the loop. It panics if there is none.
func Find(names topics.Names, name topics.Stage) Stage {
	loop := Loop(names)
	i := slices.IndexFunc(loop, func(s Stage) bool { return s.Stage == name })
	if i < 0 {
		panic(fmt.Sprintf("processors: no stage %q in the loop", name))
	}
	return loop[i]
}
