package main

import (
	"context"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/weftcrawl/weft/metrics"
	"golang.org/x/sync/errgroup"
)

// serving does work while metrics, health and pprof are served at address;
// nothing is served when that is empty. The server ends with the work.
func serving(ctx context.Context, address string, registry *prometheus.Registry, work func(context.Context) error) error {
	if address == "" {
		return work(ctx)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return usagef("--metrics: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	server, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	group.Go(func() error { return metrics.Serve(server, listener, registry, nil) })
	group.Go(func() error {
		defer stop()
		return work(ctx)
	})
	return group.Wait()
}
