package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/kafka"
)

// InUse reports whether a process runs the crawl in dir, or has its broker open to
// look at it.
func InUse(dir string) (bool, error) { return broker.InUse(Options{Dir: dir}.brokerDir()) }

// Purpose says what is done with a crawl that Reach reaches.
type Purpose int

const (
	// ToWrite is for everything that an existing crawl permits.
	ToWrite Purpose = iota
	// ToRead serves damaged logs as far as they can be read.
	ToRead
	// ToCreate makes the broker if there is none.
	ToCreate
)

// Reach says how to reach the embedded broker of the crawl in dir. If no process
// runs the crawl, the broker is opened here until release is called. damaged is called, only
// ToRead, with a description of each part that cannot be read. The error wraps ErrUsage if there
// is no crawl.
func Reach(ctx context.Context, dir string, purpose Purpose, damaged func(what string)) (access kafka.Access, release func(), err error) {
	o := broker.Options{Dir: Options{Dir: dir}.brokerDir()}
	switch purpose {
	case ToRead:
		o.Damaged = func(found []broker.Damage) {
			for _, d := range found {
				damaged(d.String())
			}
		}
	case ToCreate:
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return kafka.Access{}, nil, fmt.Errorf("make data directory: %w", err)
		}
	}
	member, closeBroker, err := broker.Reach(ctx, o)
	if errors.Is(err, broker.ErrNoBroker) {
		err = fmt.Errorf("%w: %w, and --brokers names no cluster", ErrUsage, err)
	}
	if err != nil {
		return kafka.Access{}, nil, err
	}
	// The next Open replays from the logs what closing could not save.
	return memberAccess(member), func() { _ = closeBroker() }, nil
}

// memberAccess reaches an embedded broker as a member of its crawl.
func memberAccess(m broker.Member) kafka.Access {
	return kafka.Access{Brokers: []string{m.Addr}, Dial: m.Dial}
}

// Serve opens the embedded broker of the crawl in o.Dir to other clients until ctx ends, which is
// not an error. It runs no stage. It calls tell with the address for clients.
func Serve(ctx context.Context, o Options, tell func(addr string) error) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if _, err := os.Stat(o.brokerDir()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no crawl in %s", ErrUsage, o.Dir)
	}
	b, err := o.openBroker(ctx)
	if err != nil {
		return err
	}
	if err = tell(b.Addr()); err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, b.Close())
}
