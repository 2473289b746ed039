// Package lease is a fetcher's right to start requests. The right lasts a session
// time-out, less a margin, from the moment the last good group heartbeat was sent.
// So it ends before the group gives the partitions to another member, even if the
// broker sends nothing.
//
// Time is the boot-time clock, which goes on while the machine sleeps: a laptop
// that wakes up after an hour has no lease.
package lease

import (
	"sync"
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

// Extend notes a good heartbeat. ago is how long before now it was sent.
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

// Heartbeats extends a lease with the heartbeats of a group's member. An answer to
// a heartbeat proves nothing: the heartbeat may have been refused, and clients do
// not tell. But after a refused heartbeat a client sends none until the member has
// joined again. So a heartbeat counts once the next one is answered. It counts from
// the moment it was sent: the coordinator received it no earlier, and gives the
// partitions to no other member for a session time-out from then on. In the same way
// the request that began the membership counts once partitions are assigned.
//
// It is safe for concurrent use.
type Heartbeats struct {
	lease *Lease

	mu   sync.Mutex
	sent time.Duration // when the last one was, on the lease's clock; 0: none
	// joined is when the last request was sent that began the membership or failed to.
	joined time.Duration
	// settled is when the last heartbeat was sent that counted while its group was
	// not rebalancing; 0: none.
	settled time.Duration
}

// NewHeartbeats returns the heartbeats of a member that has not joined.
func NewHeartbeats(l *Lease) *Heartbeats { return &Heartbeats{lease: l} }

// Joined notes the answer to the request that began the membership. ago is how long
// before now the request was sent.
func (h *Heartbeats) Joined(ago time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = h.lease.clock() - ago
	h.joined = h.sent
}

// Assigned notes that the group has assigned partitions, so the last request to join it was not
// refused. Nothing is asked of the group between that request and the assignment but heartbeats.
func (h *Heartbeats) Assigned() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease.Extend(h.lease.clock() - h.joined)
	h.settled = max(h.settled, h.joined)
}

// Answered notes a heartbeat that is answered, well or not. ago is how long before
// now it was sent.
func (h *Heartbeats) Answered(ago time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.lease.clock()
	if h.sent > 0 {
		h.lease.Extend(now - h.sent)
		h.settled = h.sent
	}
	h.sent = now - ago
}

// Silent is how long ago the newest heartbeat that counts was sent. It is long if
// none counts.
func (h *Heartbeats) Silent() time.Duration { return h.lease.term - h.lease.Left() }

// Waited notes a heartbeat of a member that has asked to join again and waits for
// the others. ago is how long before now it was sent. The coordinator has answered
// that it knows the member in its generation, and that the group is rebalancing.
//
// Such a heartbeat counts, since the partitions are still this member's: rebalancing
// is cooperative. But a group waits for a member no longer than its rebalance
// time-out, and it began to wait after the last heartbeat that counted otherwise. So
// the lease is not extended beyond patience from then on.
func (h *Heartbeats) Waited(ago, patience time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.lease.clock()
	if h.settled == 0 || now-ago+h.lease.term > h.settled+patience {
		return
	}
	h.lease.Extend(ago)
}
