package processors

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/lease"
	"github.com/weftcrawl/weft/supervise"
)

// heartbeats tells lease.Heartbeats of the group's answers: to the SyncGroup
// that began the membership, and to each heartbeat. It is a kgo.HookBrokerE2E.
type heartbeats struct{ *lease.Heartbeats }

// The keys of the requests in the Kafka protocol.
const (
	heartbeatKey = 12
	syncGroupKey = 14
)

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h heartbeats) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	switch {
	case e2e.Err() != nil:
	case key == syncGroupKey:
		h.Joined(e2e.DurationE2E())
	case key == heartbeatKey:
		h.Answered(e2e.DurationE2E())
	}
}

// waiting keeps the lease of a member that waits for others to join. A client
// sends no heartbeats then, and the wait may take a session, if one of the others
// is dead: until it is over the partitions are ours as before.
type waiting struct {
	member  *kgo.Client
	client  *kgo.Client // another one, since the member's answers are counted by heartbeats
	beats   *lease.Heartbeats
	request kmsg.HeartbeatRequest // but for member and generation
	every   time.Duration
}

func newWaiting(member, client *kgo.Client, beats *lease.Heartbeats, group, instance string, every time.Duration) *waiting {
	w := &waiting{member: member, client: client, beats: beats, request: kmsg.NewHeartbeatRequest(), every: every}
	w.request.Group = group
	if instance != "" {
		w.request.InstanceID = &instance
	}
	return w
}

// follow asks until ctx ends whether the member is known, whenever the client
// does not.
func (w *waiting) follow(ctx context.Context) error {
	return supervise.Every(ctx, w.every, func() error {
		if w.beats.Silent() > 3*w.every {
			w.ask(ctx)
		}
		return nil
	})
}

// patience is how long after the last heartbeat before a rebalance a member that
// waits in it may have its lease. The group removes a member that does not join
// within the rebalance time-out. A client sends heartbeats while partitions are
// handed over, so the last one that is known may be as much later than the
// beginning of the rebalance.
const patience = rebalanceTimeout - landTimeout - toldTimeout - waitingMargin

// waitingMargin is for what happens between the check of a lease and the wire.
const waitingMargin = 2 * time.Second

func (w *waiting) ask(ctx context.Context) {
	req := w.request
	req.MemberID, req.Generation = w.member.GroupMetadata()
	if req.MemberID == "" || req.Generation < 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 4*w.every)
	defer cancel()
	sent := lease.BootTime()
	resp, err := req.RequestWith(ctx, w.client)
	if err != nil {
		return
	}
	member, generation := w.member.GroupMetadata()
	same := member == req.MemberID && generation == req.Generation
	if kerr.ErrorForCode(resp.ErrorCode) == kerr.RebalanceInProgress && same {
		w.beats.Waited(lease.BootTime()-sent, patience)
	}
}
