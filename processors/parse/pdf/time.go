package pdf

import (
	"context"
	"runtime"
	"time"
)

const (
	// patience is how many times MaxTime a file may take by the clock on the wall, while other work
	// has the cores.
	patience = 8
	// watchEvery is how often the CPU time of a file is looked at.
	watchEvery = 100 * time.Millisecond
)

// timed returns a context that ends when the calling goroutine has used so much CPU time, or patience
// times as much time has passed. The goroutine keeps its thread until it calls end.
//
// CPU time is what counts because a crawl at full speed leaves little to the readers of PDF: by the
// clock on the wall, the same file would be read on one day and be too costly on another.
func timed(ctx context.Context, most time.Duration) (limited context.Context, end func()) {
	runtime.LockOSThread()
	clock := threadTime()
	begun, known := clock()
	limited, cancel := context.WithTimeout(ctx, patience*most)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-limited.Done():
				return
			case <-tick.C:
			}
			if now, ok := clock(); known && ok && now-begun >= most {
				cancel()
			}
		}
	}()
	return limited, func() {
		cancel()
		<-watched
		runtime.UnlockOSThread()
	}
}
