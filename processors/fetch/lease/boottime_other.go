//go:build !linux

package lease

import "time"

var started = time.Now()

// BootTime is Go's monotonic clock. On a system where that clock stops while the
// machine sleeps, a lease outlives the sleep. A domain that meanwhile went to another
// fetcher may then get one request too early.
func BootTime() time.Duration { return time.Since(started) }
