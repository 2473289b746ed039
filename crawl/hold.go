package crawl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/dirlock"
)

// Hold keeps other processes from crawling with the data directory dir until release is called. The error
// is dirlock.ErrInUse if a process does. A process that joins a crawl of a cluster is only kept out while
// it runs already.
func Hold(dir string) (release func() error, err error) {
	var held []func() error
	release = func() (err error) {
		for _, one := range held {
			err = errors.Join(err, one())
		}
		return err
	}
	if _, err := os.Stat(Options{Dir: dir}.brokerDir()); err == nil {
		one, err := broker.Hold(Options{Dir: dir}.brokerDir())
		if err != nil {
			return nil, err
		}
		held = append(held, one)
	}
	locks, err := filepath.Glob(filepath.Join(dir, "instances", "*.lock"))
	for _, path := range locks {
		lock, taken := dirlock.Take(filepath.Dir(path), filepath.Base(path))
		if taken != nil {
			return nil, errors.Join(fmt.Errorf("a process of the crawl: %w", taken), release())
		}
		held = append(held, lock.Release)
	}
	return release, err
}
