package processors

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// reserveEvery is the time between two looks at the free disk.
const reserveEvery = 2 * time.Second

// watchReserve tells whether the disk of env.Dir has less than env.Reserve
// free, until ctx ends or stop is called: a full disk is the one deadlock of a
// loop of logs, since topics do not push back. crossed is told of every change;
// the first look is made before it returns.
func watchReserve(ctx context.Context, env Env, crossed func(low bool)) (low *atomic.Bool, stop func()) {
	low = new(atomic.Bool)
	look := func() {
		var fs unix.Statfs_t
		if err := unix.Statfs(env.Dir, &fs); err != nil {
			return // no word from the file system is no reason to stop
		}
		if is := fs.Bavail*uint64(fs.Bsize) < uint64(env.Reserve); low.Swap(is) != is {
			crossed(is)
		}
	}
	look()
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(reserveEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				look()
			}
		}
	})
	return low, func() {
		cancel()
		watching.Wait()
	}
}
