package main

import (
	"context"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/crawl"
)

// reachFlags say which crawl is looked at: one on a cluster, or one in a data
// directory, whether or not a process runs it at the moment.
type reachFlags struct {
	clusterFlags
	Data string `placeholder:"DIR" type:"path" default:"weft-data" help:"Directory of the crawl, without --brokers."`

	embedded bool     // the crawl is one of a data directory; set by reach
	damaged  []string // what of its logs cannot be read; set by look
}

// reach makes the crawl's brokers reachable; release must be called in the end.
func (f *reachFlags) reach(ctx context.Context) (release func(), err error) {
	return f.reachBy(ctx, crawl.Reach)
}

// found is reach for a crawl that is to be made: in a data directory, the broker
// is made, too.
func (f *reachFlags) found(ctx context.Context) (release func(), err error) {
	return f.reachBy(ctx, crawl.Found)
}

func (f *reachFlags) reachBy(ctx context.Context, by func(ctx context.Context, dir string) (cluster.Access, func(), error)) (release func(), err error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if len(f.Brokers) > 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("it did not start within %v", startTimeout))
	defer cancel()
	access, release, err := by(ctx, f.Data)
	if err != nil {
		return nil, err
	}
	f.Brokers, f.member, f.embedded = access.Brokers, access.Dial, true
	return release, nil
}

// startTimeout bounds the wait for a process that is opening the directory.
const startTimeout = 30 * time.Second
