package fetch

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/fetch/lease"
)

// A group that is balanced removes a member that does not join within its
// rebalance time-out. The lease of one that waits has ended before, also when it
// sent heartbeats while it handed partitions over.
func TestLeaseEndsBeforeTheGroupRemovesAMember(t *testing.T) {
	const heartbeat = 250 * time.Millisecond
	opts := DefaultOptions()
	now := time.Hour
	l := lease.New(opts.SessionTimeout-opts.LeaseMargin, func() time.Duration { return now })
	h := lease.NewHeartbeats(l)
	h.Joined(0)
	began := now
	for ; now <= began+landTimeout+reportTimeout; now += heartbeat {
		h.Answered(0)
	}
	if !l.Holds() {
		t.Fatal("no lease")
	}
	var longest time.Duration
	for ; now < began+2*stage.RebalanceTimeout; now += heartbeat {
		h.Waited(0, patience)
		longest = max(longest, now+l.Left()-began)
	}
	if longest > stage.RebalanceTimeout-opts.LeaseMargin || longest < stage.RebalanceTimeout/2 {
		t.Errorf("the lease ends %v after the rebalance began, which may end after %v", longest, stage.RebalanceTimeout)
	}
}
