package ledger

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/internal/supervise"
)

// A group that waits for a dead member to join does not hold up those that
// live: their partitions go on, and commit.
func TestMembersWorkWhileTheGroupWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.start(w.options())
	w.reaches(IncidentClaim, 1)
	w.produce(numbers(0, 5)...)
	w.untilCommitted(5)

	dead := w.member()
	check(t, dead.join(t.Context())) // and nothing more is heard of it
	waits, cancel := context.WithCancel(t.Context())
	late := w.member()
	joined := make(chan error, 1)
	go func() { joined <- late.join(waits) }()

	w.produce(numbers(5, 50)...)
	w.untilCommitted(50)
	select {
	case err := <-joined:
		t.Fatalf("the group did not wait: %v", err)
	default:
	}
	cancel()
	<-joined
	w.exactly(numbers(0, 50))
	if n := w.happened()[IncidentClaim]; n != 1 {
		t.Errorf("%d claims", n)
	}
	mustStop(t, stop)
}

// A member that comes back by its instance id has its partitions at once,
// although its session goes on for long.
func TestStaticMemberComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := owner{Dir: t.TempDir(), Member: "m", Instance: "m-1", SessionMS: 300_000}
	for life := range 3 {
		p := w.process(o)
		p.start()
		p.reaches(IncidentClaim, 1)
		w.produce(numbers(10*life, 10*life+10)...)
		w.exactly(numbers(0, 10*life+10))
		p.kill()
	}
}

// A static member that ends by itself leaves the group, and one whose id another
// process uses ends by name.
func TestStaticMemberLeavesOrIsFenced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options()
	o.Instance = "m-1"
	stop := w.start(o)
	w.reaches(IncidentClaim, 1)
	mustStop(t, stop)
	if members := w.cluster.GroupInfo(ledgerTopic).Members; len(members) > 0 {
		t.Errorf("%d members are left", len(members))
	}

	// A process whose id was taken in another group leaves the other one its place.
	ended := make(chan error, 1)
	ctx, end := context.WithCancelCause(t.Context())
	go func() { ended <- Run(ctx, w.stage(), o) }()
	w.reaches(IncidentClaim, 2)
	end(ErrNameTaken)
	check(t, <-ended)
	if members := w.cluster.GroupInfo(ledgerTopic).Members; len(members) != 1 {
		t.Errorf("%d members are left, not the one whose id was taken", len(members))
	}

	go func() { ended <- Run(t.Context(), w.stage(), o) }()
	w.reaches(IncidentClaim, 3)
	copied := w.member()
	copied.request.InstanceID = &o.Instance
	check(t, copied.join(t.Context()))
	if err := <-ended; !errors.Is(err, ErrNameTaken) {
		t.Errorf("ended with %v", err)
	}
}

// member is one of the group of a world's stage that only joins.
type member struct {
	w       *world
	request *kmsg.JoinGroupRequest
}

func (w *world) member() *member {
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = ledgerTopic, "consumer"
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 300_000, 300_000
	own := Rendezvous{Member: "raw"}
	join.Protocols = []kmsg.JoinGroupRequestProtocol{{
		Name: own.ProtocolName(), Metadata: own.JoinGroupMetadata([]string{inTopic}, nil, -1),
	}}
	return &member{w, join}
}

// join returns when the group has a new generation.
func (m *member) join(ctx context.Context) error {
	for {
		resp, err := m.request.RequestWith(ctx, m.w.client)
		if err != nil {
			return err
		}
		m.request.MemberID = resp.MemberID
		if err := kerr.ErrorForCode(resp.ErrorCode); !errors.Is(err, kerr.MemberIDRequired) {
			return err
		}
	}
}

// Processes from before the present protocol of balancing keep the group to
// themselves. One of the present takes over when the last of them has left.
func TestWaitsForAnotherProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	former := w.member()
	former.request.Protocols[0].Name = "range"
	check(t, former.join(t.Context()))
	o := w.options()
	o.Instance = "m-1"
	failed := make(chan error, 1)
	o.Failed = func(_ context.Context, f supervise.Failure) {
		select {
		case failed <- f.Err:
		default:
		}
	}
	stop := w.start(o)
	if err := <-failed; !errors.Is(err, kerr.InconsistentGroupProtocol) {
		t.Errorf("failed with %v", err)
	}
	check(t, leaveGroup(o.Cluster, ledgerTopic, func(l *kmsg.LeaveGroupRequestMember) { l.MemberID = former.request.MemberID }))
	w.reaches(IncidentClaim, 1)
	w.produce(numbers(0, 5)...)
	w.exactly(numbers(0, 5))
	mustStop(t, stop)
}
