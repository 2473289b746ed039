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

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/supervise"
)

// membership is this process's part in the consumer group of a stage. Its client fetches
// nothing: the group only assigns partitions, and each of them has a processor of its own (see
// runner.live). Balancing is cooperative. A partition that stays assigned is not disturbed when
// members come and go, or while the group waits for a dead member.
type membership struct {
	run     *runner
	client  *kgo.Client
	commits *committer
	ready   chan struct{}      // closed when client and commits are set
	cancel  context.CancelFunc // of all that the client waits for
	fail    context.CancelCauseFunc

	mu      sync.Mutex
	over    bool
	tenures map[int32]*tenure // by partition
}

// tenure is the time in which a partition is assigned to this process.
type tenure struct {
	end    context.CancelFunc
	closed chan struct{} // closed with the partition
}

// ErrNameTaken means that another process has joined the group of a stage with
// the instance id of this one (KIP-345). Then a data directory was copied, because
// the lock on a directory keeps its id to one process.
var ErrNameTaken = errors.New("another process has joined the group by this process's instance id; was its data directory copied?")

// join makes this process a member. fail is called with the error of a partition
// that no new processor can mend.
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
		kgo.ClientID("weft-" + r.Ledger),
		kgo.MaxVersions(versions),
		kgo.ConsumerGroup(r.Ledger),
		kgo.ConsumeTopics(r.InputTopics()...),
		kgo.Balancers(Rendezvous{r.opts.Member}),
		kgo.SessionTimeout(r.opts.SessionTimeout),
		kgo.HeartbeatInterval(r.opts.Heartbeat),
		kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, gained map[string][]int32) {
			<-m.ready
			client.PauseFetchTopics(r.InputTopics()...)
			m.onAssigned(partitionsOf(gained))
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { m.onRevoked(partitionsOf(lost)) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { m.onRevoked(partitionsOf(lost)) }),
	}
	if r.opts.Instance != "" {
		opts = append(opts, kgo.InstanceID(r.opts.Instance))
	}
	var err error
	if m.client, err = r.opts.Cluster.NewClient(opts...); err != nil {
		return nil, err
	}
	r.rejoin = m.client.ForceRebalance
	m.commits = &committer{client: m.client, group: r.Ledger, instance: r.opts.Instance, due: map[topicPartition]int64{}}
	return m, nil
}

// partitionsOf are the numbers of partitions, which are the same in all topics.
func partitionsOf(topics map[string][]int32) []int32 {
	numbers := slices.Concat(slices.Collect(maps.Values(topics))...)
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func (m *membership) onAssigned(partitions []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range partitions {
		if m.over || m.tenures[p] != nil {
			continue
		}
		ctx, end := context.WithCancel(m.run.life)
		closed := make(chan struct{})
		m.tenures[p] = &tenure{end: end, closed: closed}
		go func() {
			defer close(closed)
			if err := m.work(ctx, p); err != nil {
				m.fail(err)
			}
		}()
	}
}

// work runs processors of a partition, one after the other, until ctx ends. It returns only errors
// that no new processor could mend.
func (m *membership) work(ctx context.Context, partition int32) error {
	return supervise.Run(ctx, supervise.Options{
		Logger: m.run.log.With("partition", partition),
		Fatal:  func(error) bool { return m.run.fatal() != nil }, Failed: m.run.opts.Failed, Over: m.run.opts.Over,
	}, func(ctx context.Context) error {
		err := m.run.live(ctx, m, partition)
		if ctx.Err() == nil {
			m.run.opts.Observe(IncidentRestart, partition)
		}
		return err
	})
}

// onRevoked ends the work on partitions. It returns when they are closed and their
// last positions are committed.
func (m *membership) onRevoked(partitions []int32) {
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
		<-t.closed
	}
	if len(ending) > 0 {
		// The next owner commits what cannot be committed here.
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

// follow commits what is due. It returns when ctx ends, which is not an error, or when this process
// cannot stay a member.
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
		return m.run.judge(fmt.Errorf("group %s: instance %s: %w", m.run.Ledger, m.run.opts.Instance, ErrNameTaken))
	}
	return fmt.Errorf("group %s: %w", m.run.Ledger, err)
}

// leave closes all partitions and leaves the group, so that other members need not wait for the
// end of this session. A static member stays; see LeaveGroup. The client itself would leave
// only after the group has stopped waiting for others.
func (m *membership) leave() {
	m.mu.Lock()
	m.over = true
	all := slices.Collect(maps.Keys(m.tenures))
	m.mu.Unlock()
	m.onRevoked(all)
	member, _ := m.client.GroupMetadata()
	m.cancel()
	m.client.Close()
	if m.run.opts.Instance != "" || member == "" {
		return
	}
	if err := leaveGroup(m.run.opts.Cluster, m.run.Ledger, func(l *kmsg.LeaveGroupRequestMember) { l.MemberID = member }); err != nil {
		m.run.log.Info(whileWaiting, "error", err)
	}
}

const whileWaiting = "other members wait for the end of this session"

// LeaveGroup makes a static member leave its group, so that a process that ends by
// itself hands its partitions over. The client does not do that (KIP-345). ctx is
// the stage's. If it ended because another process has taken the id
// (ErrNameTaken), in this group or in another one, the member with that id is the
// other process, and LeaveGroup does nothing.
func LeaveGroup(ctx context.Context, at kafka.Access, group, instance string, log *slog.Logger) {
	if errors.Is(context.Cause(ctx), ErrNameTaken) {
		return
	}
	if err := leaveGroup(at, group, func(l *kmsg.LeaveGroupRequestMember) { l.InstanceID = &instance }); err != nil {
		log.Info(whileWaiting, "error", err)
	}
}

func leaveGroup(at kafka.Access, group string, name func(*kmsg.LeaveGroupRequestMember)) error {
	client, err := at.NewClient()
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
