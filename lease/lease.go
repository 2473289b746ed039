// Package lease is a fetcher's right to start requests: it lasts a session
// time-out, less a margin, from the moment the last good group heartbeat was
// sent. Before the group gives the partitions to somebody else, the right has
// ended here, without a word from the broker.
//
// Time is the boot-time clock, which goes on while the machine sleeps: a laptop
// that wakes up after an hour has no lease.
package lease

import (
	"sync/atomic"
	"time"
)

// Clock tells the time since some fixed moment, suspended time included.
type Clock func() time.Duration

// Lease is safe for concurrent use.
type Lease struct {
	clock Clock
	term  time.Duration
	ends  atomic.Int64 // on clock, in nanoseconds
}

// New returns a lease that has not begun. term is the session time-out less a
// margin for what happens between the check and the wire.
func New(term time.Duration, clock Clock) *Lease { return &Lease{clock: clock, term: term} }

// Extend books a good heartbeat that was sent ago before now.
func (l *Lease) Extend(ago time.Duration) {
	ends := int64(l.clock() - ago + l.term)
	for {
		old := l.ends.Load()
		if ends <= old || l.ends.CompareAndSwap(old, ends) {
			return
		}
	}
}

// Revoke ends the lease now.
func (l *Lease) Revoke() { l.ends.Store(0) }

// Holds tells whether a request may be started.
func (l *Lease) Holds() bool { return int64(l.clock()) < l.ends.Load() }

// Left is the time until the lease ends, negative after.
func (l *Lease) Left() time.Duration { return time.Duration(l.ends.Load()) - l.clock() }
