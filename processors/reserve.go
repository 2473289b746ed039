package processors

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// holdBelowReserve sets hold while the disk of env.Dir has less than
// env.Reserve free, until ctx ends: a full disk is the one deadlock of a loop
// of logs, since topics do not push back.
func holdBelowReserve(ctx context.Context, env Env, hold *atomic.Bool) {
	check := func() {
		var fs unix.Statfs_t
		if err := unix.Statfs(env.Dir, &fs); err != nil {
			return // no word from the file system is no reason to stop
		}
		low := fs.Bavail*uint64(fs.Bsize) < uint64(env.Reserve)
		if hold.Swap(low) != low {
			env.Logger.Warn("free disk crossed the reserve", "held", low, "reserve_bytes", env.Reserve)
		}
	}
	check()
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			check()
		}
	}
}
