package processors

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/lease"
)

// A group that is balanced removes a member that does not join within its
// rebalance time-out. The lease of one that waits has ended before, also when it
// sent heartbeats while it handed partitions over.
func TestLeaseEndsBeforeTheGroupRemovesAMember(t *testing.T) {
	const heartbeat = 250 * time.Millisecond
	opts := DefaultFetchOptions()
	now := time.Hour
	l := lease.New(opts.SessionTimeout-opts.LeaseMargin, func() time.Duration { return now })
	h := lease.NewHeartbeats(l)
	h.Joined(0)
	began := now
	for ; now <= began+landTimeout+toldTimeout; now += heartbeat {
		h.Answered(0)
	}
	if !l.Holds() {
		t.Fatal("no lease")
	}
	var longest time.Duration
	for ; now < began+2*rebalanceTimeout; now += heartbeat {
		h.Waited(0, patience)
		longest = max(longest, now+l.Left()-began)
	}
	if longest > rebalanceTimeout-opts.LeaseMargin || longest < rebalanceTimeout/2 {
		t.Errorf("the lease ends %v after the rebalance began, which may end after %v", longest, rebalanceTimeout)
	}
}
