package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/internal/broker"
	"github.com/weftcrawl/weft/internal/dirlock"
)

// Hold keeps other processes from crawling with the data directory dir until release is called. The error
// is dirlock.ErrInUse if a process does. Hold finds a process of a crawl on a cluster only if that process
// already runs. It does not keep out one that starts later.
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
	instances := filepath.Join(dir, instancesDir)
	locks, err := fs.Glob(os.DirFS(instances), "*.lock")
	for _, name := range locks {
		lock, taken := dirlock.Take(instances, name)
		if taken != nil {
			return nil, errors.Join(fmt.Errorf("a process of the crawl: %w", taken), release())
		}
		held = append(held, lock.Release)
	}
	return release, err
}
