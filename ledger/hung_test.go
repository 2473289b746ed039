package ledger

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The leader of an input stops answering the fetches of an owner, while another
// member joins. The group waits for the owner to give a partition up. That ends
// although no answer comes, and before the group expels the owner.
func TestHandsOverWhileALeaderHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for an answer that does not come")
	}
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.ClusterID("test"), kfake.SeedTopics(2, inTopic, ledgerTopic))
	check(t, err)
	t.Cleanup(cluster.Close)
	w := newWorldAt(t, cluster.ListenAddrs()...)
	w.cluster = cluster
	letGo := make(chan struct{})
	t.Cleanup(func() { close(letGo) })
	old, o := newTally(t), w.options()
	o.Dir, o.Member, o.Observe = t.TempDir(), "old", old.observe
	o.Cluster.Dial = dialPatiently
	stopOld := w.start(o)
	old.reaches(IncidentClaim, 2)
	id := cluster.GroupInfo(ledgerTopic).Members[0].MemberID

	listed, err := kadm.NewClient(w.client).ListTopics(t.Context(), inTopic)
	check(t, err)
	input := [16]byte(listed[inTopic].ID) // requests name topics by it
	hangs := make(chan struct{})
	var hung atomic.Bool
	cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if r := req.(*kmsg.FetchRequest); len(r.Topics) > 0 && r.Topics[0].TopicID == input && hung.CompareAndSwap(false, true) {
			close(hangs)
			cluster.SleepControl(func() { <-letGo })
		}
		return nil, nil, false
	})
	<-hangs
	next, stopNext := w.another("next")
	next.reaches(IncidentClaim, 1)
	if !slices.ContainsFunc(cluster.GroupInfo(ledgerTopic).Members, func(m kfake.GroupMember) bool { return m.MemberID == id }) {
		t.Error("the old owner was expelled")
	}
	mustStop(t, stopNext)
	old.reaches(IncidentClaim, 3) // the partition is read again by the same client
	mustStop(t, stopOld)
}

// dialPatiently connects without deadlines: an answer is waited for until it comes.
func dialPatiently(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return patient{conn}, nil
}

type patient struct{ net.Conn }

func (patient) SetDeadline(time.Time) error     { return nil }
func (patient) SetReadDeadline(time.Time) error { return nil }
