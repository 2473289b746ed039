package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/supervise"
)

// membership is this process's part in the consumer group of a stage. Its
// client fetches nothing: the group only says which partitions are ours, and
// each of them has a processor of its own (see runner.live). Balancing is
// cooperative, so a partition that stays ours is not disturbed when members come
// and go, nor while the group waits for one that is dead.
type membership struct {
	run     *runner
	client  *kgo.Client
	commits *committer
	ready   chan struct{}      // closed when client and commits are set
	cancel  context.CancelFunc // of all that the client waits for
	fail    context.CancelCauseFunc

	mu      sync.Mutex
	over    bool
	tenures map[int32]*tenure
}

// tenure is the time in which a partition is ours.
type tenure struct {
	end  context.CancelFunc
	done chan struct{} // closed when the partition is closed
}

// ErrNameTaken means that another process takes part in the group of a stage by
// the instance id of this one (KIP-345). Data directories were copied: the lock
// on a directory keeps its id to one process.
var ErrNameTaken = errors.New("another process has joined the group by this process's instance id; was its data directory copied?")

// join makes this process a member. The partitions that it gets live until ctx
// ends; fail is told of one that cannot be mended.
func (r *runner) join(fail context.CancelCauseFunc) (*membership, error) {
	m := &membership{run: r, ready: make(chan struct{}), fail: fail, tenures: map[int32]*tenure{}}
	defer close(m.ready)
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	versions := kversion.Stable()
	// From version 10 on commits name topics by ids (KIP-848).
	versions.SetMaxKeyVersion(int16(kmsg.OffsetCommit), 9)
	opts := []kgo.Opt{
		kgo.WithContext(ctx),
		kgo.ClientID("weft-" + r.ledger),
		kgo.MaxVersions(versions),
		kgo.ConsumerGroup(r.ledger),
		kgo.ConsumeTopics(r.Inputs()...),
		kgo.Balancers(Rendezvous{r.opts.Member}),
		kgo.SessionTimeout(r.opts.SessionTimeout),
		kgo.HeartbeatInterval(r.opts.Heartbeat),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, gained map[string][]int32) {
			<-m.ready
			client.PauseFetchTopics(r.Inputs()...)
			m.gain(partitionsOf(gained))
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { m.lose(partitionsOf(lost)) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { m.lose(partitionsOf(lost)) }),
	}
	if r.opts.Instance != "" {
		opts = append(opts, kgo.InstanceID(r.opts.Instance))
	}
	var err error
	if m.client, err = r.client(opts...); err != nil {
		return nil, err
	}
	r.rejoin = m.client.ForceRebalance
	m.commits = &committer{client: m.client, group: r.ledger, instance: r.opts.Instance, due: map[topicPartition]int64{}}
	return m, nil
}

// partitionsOf are the numbers of partitions, which are the same in all topics.
func partitionsOf(topics map[string][]int32) []int32 {
	numbers := map[int32]bool{}
	for _, partitions := range topics {
		for _, p := range partitions {
			numbers[p] = true
		}
	}
	return slices.Sorted(maps.Keys(numbers))
}

// gain begins to work on partitions.
func (m *membership) gain(partitions []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range partitions {
		if m.over || m.tenures[p] != nil {
			continue
		}
		ctx, end := context.WithCancel(m.run.life)
		t := &tenure{end: end, done: make(chan struct{})}
		m.tenures[p] = t
		go func() {
			defer close(t.done)
			if err := m.work(ctx, p); err != nil {
				m.fail(err)
			}
		}()
	}
}

// work runs processors of a partition, one after the other, until ctx ends. An
// error is one that no new processor could mend.
func (m *membership) work(ctx context.Context, partition int32) error {
	return supervise.Run(ctx, supervise.Options{
		Logger: m.run.log.With("partition", partition),
		Fatal:  func(error) bool { return m.run.fatal() != nil }, Failed: m.run.opts.Failed,
	}, func(ctx context.Context) error {
		err := m.run.live(ctx, m, partition)
		if ctx.Err() == nil {
			m.run.opts.Observe(Happening{Kind: HappenedRestart, Partition: partition})
		}
		return err
	})
}

// lose ends the work on partitions. It returns when they are closed and their
// last positions committed: their next owner finds everything.
func (m *membership) lose(partitions []int32) {
	m.mu.Lock()
	ending := map[int32]*tenure{}
	for _, p := range partitions {
		if t := m.tenures[p]; t != nil {
			ending[p] = t
			t.end()
		}
	}
	m.mu.Unlock()
	for _, t := range ending {
		m.run.await(t.done)
	}
	if len(ending) > 0 {
		// What cannot be committed is committed by the next owner.
		_ = m.commits.flush(context.Background())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, t := range ending {
		m.commits.forget(p)
		if m.tenures[p] == t {
			delete(m.tenures, p)
		}
	}
}

// await returns when done is closed, which says that a partition is closed. A
// broker that hangs must not hold that up, since the group waits for this member:
// connections on which no answer comes are closed. The fetch that fails then is one
// of a reader that is closed, or it is made again. A closed reader passes nothing
// on, whatever its fetch brought: its claim has ended before.
func (r *runner) await(done <-chan struct{}) {
	const look = hungAfter / 4
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			// A fetch that finds no records waits for CarryIdle at the broker.
			if hung := r.dialer.hangUp(time.Now().Add(-hungAfter - r.opts.CarryIdle)); len(hung) > 0 {
				r.log.Warn("a partition is given up, and brokers do not answer: connections are closed", "brokers", hung)
			}
		}
	}
}

// hungAfter is how long a broker may take to answer while a partition is given up.
const hungAfter = 2 * time.Second

// follow commits what is due, and returns when ctx ends, which is no error, or
// when the group cannot be a member's any more.
func (m *membership) follow(ctx context.Context) error {
	var committing sync.WaitGroup
	defer committing.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	committing.Go(func() {
		_ = supervise.Every(ctx, m.run.opts.CarryIdle, func() error {
			_ = m.commits.flush(ctx) // again the next time
			return nil
		})
	})
	for {
		fetches := m.client.PollFetches(ctx) // nothing but errors
		if ctx.Err() != nil {
			return nil
		}
		for _, failed := range fetches.Errors() {
			if err := m.judge(failed.Err); err != nil {
				return err
			}
		}
	}
}

// judge is the error that ends the membership, nil for one after which the
// client joins again by itself.
func (m *membership) judge(err error) error {
	for _, passing := range []error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress, kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress} {
		if errors.Is(err, passing) {
			return nil
		}
	}
	if errors.Is(err, kerr.FencedInstanceID) {
		return m.run.judge(fmt.Errorf("group %s: instance %s: %w", m.run.ledger, m.run.opts.Instance, ErrNameTaken))
	}
	return fmt.Errorf("group %s: %w", m.run.ledger, err)
}

// leave closes all partitions, and leaves the group: others need not wait for a
// session to end. A static member stays, unless it is over for good; see
// LeaveGroup. The client would not leave before the group has done with waiting
// for others.
func (m *membership) leave() {
	m.mu.Lock()
	m.over = true
	all := slices.Collect(maps.Keys(m.tenures))
	m.mu.Unlock()
	m.lose(all)
	member, _ := m.client.GroupMetadata()
	m.cancel()
	m.client.Close()
	if m.run.opts.Instance != "" || member == "" {
		return
	}
	if err := leaveGroup(m.run.opts.Cluster, m.run.ledger, func(l *kmsg.LeaveGroupRequestMember) { l.MemberID = member }); err != nil {
		m.run.log.Info(whileWaiting, "error", err)
	}
}

const whileWaiting = "others wait for the end of a session"

// LeaveGroup has a static member leave its group, which its client does not do
// (KIP-345): a process that ends by itself hands its partitions over. ctx is the
// stage's. If it ended because the process's id is taken (ErrNameTaken), in this
// group or another one, the member of that id is the other process, and stays.
func LeaveGroup(ctx context.Context, at cluster.Access, group, instance string, log *slog.Logger) {
	if errors.Is(context.Cause(ctx), ErrNameTaken) {
		return
	}
	if err := leaveGroup(at, group, func(l *kmsg.LeaveGroupRequestMember) { l.InstanceID = &instance }); err != nil {
		log.Info(whileWaiting, "error", err)
	}
}

func leaveGroup(at cluster.Access, group string, name func(*kmsg.LeaveGroupRequestMember)) error {
	client, err := kgo.NewClient(at.Client()...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	req, member := kmsg.NewPtrLeaveGroupRequest(), kmsg.NewLeaveGroupRequestMember()
	name(&member)
	req.Group, req.MemberID = group, member.MemberID // the latter for brokers before Kafka 2.4
	req.Members = append(req.Members, member)
	resp, err := req.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	for i := 0; err == nil && i < len(resp.Members); i++ {
		err = kerr.ErrorForCode(resp.Members[i].ErrorCode)
	}
	if errors.Is(err, kerr.UnknownMemberID) {
		return nil // it is gone already
	}
	return err
}

// leaveTimeout is short: a process that is told to end does so.
const leaveTimeout = time.Second
