package fetch

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/supervise"
	"github.com/weftcrawl/weft/processors/fetch/lease"
)

// errLease ends a fetcher: its partitions may have another owner.
var errLease = errors.New("no good heartbeat for too long; requests in flight are cancelled")

// keepLease returns errLease when the lease has ended. First it ends the work on every
// partition. Before the lease has begun it waits.
func keepLease(ctx context.Context, l *lease.Lease, every time.Duration, assigned *partitions) error {
	began := false
	return supervise.Every(ctx, every, func() error {
		switch {
		case l.Holds():
			began = true
		case began:
			assigned.end()
			return errLease
		}
		return nil
	})
}

// heartbeats tells lease.Heartbeats of the group's answers: to the SyncGroup that began
// the membership, and to each heartbeat. It is a kgo.HookBrokerE2E.
type heartbeats struct{ *lease.Heartbeats }

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h heartbeats) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	switch {
	case e2e.Err() != nil:
	case key == kmsg.SyncGroup.Int16():
		h.Joined(e2e.DurationE2E())
	case key == kmsg.Heartbeat.Int16():
		h.Answered(e2e.DurationE2E())
	}
}

// waiting keeps the lease of a member that waits for others to join. A client sends no
// heartbeats then, and the wait may take a session if another member is dead. Until the
// wait is over the partitions are this member's as before.
type waiting struct {
	member  *kgo.Client
	client  *kgo.Client // another one, since heartbeats counts the member's answers
	beats   *lease.Heartbeats
	request kmsg.HeartbeatRequest // without member and generation
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

// follow asks the coordinator whether it knows the member, whenever the client sends no
// heartbeats, until ctx ends.
func (w *waiting) follow(ctx context.Context) error {
	return supervise.Every(ctx, w.every, func() error {
		if w.beats.Silent() > 3*w.every {
			w.ask(ctx)
		}
		return nil
	})
}

// patience is how long after the last heartbeat before a rebalance a waiting member may
// have its lease. The group removes a member that does not join within the rebalance
// time-out. A client sends heartbeats while it hands partitions over. So the last known
// heartbeat may be as much later than the beginning of the rebalance.
const patience = stage.RebalanceTimeout - landTimeout - reportTimeout - waitingMargin

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
