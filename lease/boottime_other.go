//go:build !linux

package lease

import "time"

var started = time.Now()

// BootTime is Go's monotonic clock. Where it stops while the machine sleeps,
// a lease outlives the sleep, and a domain that meanwhile went to another
// fetcher may see one early request.
func BootTime() time.Duration { return time.Since(started) }
