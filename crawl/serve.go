package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/weftcrawl/weft/broker"
)

// Serve opens the embedded broker of the crawl in o.Dir to other clients and
// runs nothing, until ctx ends, which is no error. It tells the address that
// clients come to.
func Serve(ctx context.Context, o Options, tell func(addr string) error) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if _, err := os.Stat(o.brokerDir()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no crawl in %s", ErrUsage, o.Dir)
	}
	b, err := o.openBroker(ctx)
	if errors.Is(err, broker.ErrDamaged) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err = tell(b.Addr()); err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, b.Close())
}
