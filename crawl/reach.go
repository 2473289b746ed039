package crawl

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/weftcrawl/weft/broker"
	"github.com/weftcrawl/weft/cluster"
)

// InUse tells whether a process runs the crawl in dir, or looks at it.
func InUse(dir string) (bool, error) { return broker.InUse(Options{Dir: dir}.brokerDir()) }

// Reach says how to reach the embedded broker of the crawl in dir: that of the
// process that runs it, or one that lives until release is called. An error that
// wraps ErrUsage says that there is no crawl.
func Reach(ctx context.Context, dir string) (access cluster.Access, release func(), err error) {
	return reach(ctx, broker.Options{Dir: Options{Dir: dir}.brokerDir()})
}

func reach(ctx context.Context, o broker.Options) (access cluster.Access, release func(), err error) {
	member, closeBroker, err := broker.Reach(ctx, o)
	if errors.Is(err, broker.ErrNoBroker) {
		err = fmt.Errorf("%w: %w, and --brokers names no cluster", ErrUsage, err)
	}
	if err != nil {
		return cluster.Access{}, nil, err
	}
	// What it could not save is replayed from its logs, as after a crash.
	return memberAccess(member), func() { _ = closeBroker() }, nil
}

// Found is Reach for who brings a crawl to dir: it makes the broker if there is
// none.
func Found(ctx context.Context, dir string) (access cluster.Access, release func(), err error) {
	o := Options{Dir: dir}
	if err := os.MkdirAll(o.brokerDir(), 0o755); err != nil {
		return cluster.Access{}, nil, fmt.Errorf("make data directory: %w", err)
	}
	return Reach(ctx, dir)
}

// memberAccess reaches an embedded broker as a member of its crawl.
func memberAccess(m broker.Member) cluster.Access {
	return cluster.Access{Brokers: []string{m.Addr}, Dial: m.Dial}
}
