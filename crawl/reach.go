package crawl

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/weftcrawl/weft/broker"
)

// InUse tells whether a process runs the crawl in dir, or looks at it.
func InUse(dir string) (bool, error) { return broker.InUse(Options{Dir: dir}.brokerDir()) }

// Reach returns the address of the embedded broker of the crawl in dir: of the
// process that runs it, or of one that lives until release is called. An error
// that wraps ErrUsage says that there is no crawl.
func Reach(ctx context.Context, dir string) (addr string, release func(), err error) {
	o := Options{Dir: dir}
	addr, closeBroker, err := broker.Reach(ctx, broker.Options{Dir: o.brokerDir()})
	if errors.Is(err, broker.ErrNoBroker) {
		err = fmt.Errorf("%w: %w, and --brokers names no cluster", ErrUsage, err)
	}
	if err != nil {
		return "", nil, err
	}
	// What it could not save is replayed from its logs, as after a crash.
	return addr, func() { _ = closeBroker() }, nil
}

// Found is Reach for who brings a crawl to dir: it makes the broker if there is
// none.
func Found(ctx context.Context, dir string) (addr string, release func(), err error) {
	o := Options{Dir: dir}
	if err := os.MkdirAll(o.brokerDir(), 0o755); err != nil {
		return "", nil, fmt.Errorf("make data directory: %w", err)
	}
	return Reach(ctx, dir)
}
