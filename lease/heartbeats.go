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
	}
	h.sent = now - ago
}
