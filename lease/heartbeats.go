package lease

import (
	"sync"
	"time"
)

// Heartbeats extends a lease with the heartbeats of a group's member. That one
// was answered says nothing: it may have been refused, and clients do not tell.
// But none is sent after one that was refused, until the member has joined
// again. So each counts once the next one has been answered, from when it was
// sent: the coordinator had it no earlier, and gives the partitions to nobody
// else for a session time-out from then on.
//
// It is safe for concurrent use.
type Heartbeats struct {
	lease *Lease

	mu   sync.Mutex
	sent time.Duration // when the last one was, on the lease's clock; 0: none
	// settled is when the last one was sent that counted in a group which was not
	// being balanced; 0: none.
	settled time.Duration
}

// NewHeartbeats returns the heartbeats of a member that has not joined.
func NewHeartbeats(l *Lease) *Heartbeats { return &Heartbeats{lease: l} }

// Joined books the request that began the membership, which was sent ago before
// now and is answered.
func (h *Heartbeats) Joined(ago time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = h.lease.clock() - ago
}

// Answered books a heartbeat that was sent ago before now and is answered, well
// or not.
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

// Silent is how long ago the newest heartbeat that counts was sent; long, if
// none was.
func (h *Heartbeats) Silent() time.Duration { return h.lease.term - h.lease.Left() }

// Waited books a heartbeat of a member that has asked to join again and waits
// for the others, sent ago before now. The coordinator has answered that the
// member is known in its generation, and that the group is to be balanced. It
// counts, since the partitions are still this member's: balancing is
// cooperative. But a group does not wait for a member for longer than its
// rebalance time-out, and it began to wait after the last heartbeat that counted
// otherwise. So the lease is not extended beyond patience from then on.
func (h *Heartbeats) Waited(ago, patience time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.lease.clock()
	if h.settled == 0 || now-ago+h.lease.term > h.settled+patience {
		return
	}
	h.lease.Extend(ago)
}
