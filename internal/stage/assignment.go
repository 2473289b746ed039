package stage

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/ledger"
	"github.com/weftcrawl/weft/topics"
)

// PartitionState is what a stage keeps for each partition that its worker has.
type PartitionState interface {
	// Reset forgets all partitions and everything that is begun: a new life of the
	// stage begins.
	Reset()
	// OnAssigned is told of new partitions before their records come.
	OnAssigned(partitions []int32)
	// Load makes a partition's state ready. It ends early when ctx ends. The
	// partition's records come after it; records of other partitions do not wait.
	Load(ctx context.Context, partition int32)
	// OnRevoked may wait, until ctx ends, before partitions go to another member.
	OnRevoked(ctx context.Context, partitions []int32)
}

// RebalanceTimeout is how long a group waits for a member that has to join again.
const RebalanceTimeout = time.Minute

// MemberOptions are the options of a member of a stage's group.
func (e Env) MemberOptions(stage topics.Stage, session, heartbeat time.Duration) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(e.Names.Group(stage)),
		kgo.ConsumeTopics(e.Names.Inputs(stage)...),
		// The second balancer is for members of a version that had only that one.
		kgo.Balancers(ledger.Rendezvous{Member: e.Member}, kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(session),
		kgo.HeartbeatInterval(heartbeat),
		kgo.RebalanceTimeout(RebalanceTimeout),
	}
	if id := e.Instances[stage]; id != "" {
		opts = append(opts, kgo.InstanceID(id))
	}
	return opts
}

// consumerOptions are the options of a worker's consumer. Offsets are marked by the
// worker. Marked offsets are committed in the background and before a rebalance.
func (w *worker) consumerOptions(e Env) []kgo.Opt {
	isolation := kgo.ReadUncommitted()
	if slices.Contains(e.Names.Inputs(w.Stage), e.Names.Seeds) {
		isolation = kgo.ReadCommitted() // users may write seeds in transactions
	}
	return append(e.MemberOptions(w.Stage, e.SessionTimeout, e.Heartbeat),
		kgo.FetchIsolationLevel(isolation),
		kgo.KeepControlRecords(), // commits pass them; without them the stage would never reach the end
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(),
		kgo.AutoCommitInterval(CommitEvery),
		kgo.OnPartitionsAssigned(func(ctx context.Context, c *kgo.Client, gained map[string][]int32) { w.onAssigned(ctx, c, gained) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, c *kgo.Client, lost map[string][]int32) {
			w.onRevoked(ctx, lost)
			// The next owner repeats what cannot be committed.
			_ = c.CommitMarkedOffsets(ctx)
			w.forget(lost)
		}),
		kgo.OnPartitionsLost(func(ctx context.Context, _ *kgo.Client, lost map[string][]int32) {
			over, cancel := context.WithCancel(ctx)
			cancel() // the group does not wait for this member any more
			w.onRevoked(over, lost)
			w.forget(lost)
		}),
		// Without it a batch could come back after the partition was lost and assigned
		// again, and its old offsets would be marked before the ones read again.
		kgo.BlockRebalanceOnPoll(),
		kgo.FetchMaxBytes(1<<20),
		kgo.FetchMaxPartitionBytes(1<<19),
		// A new member reads inputs with commits first. It reads the others after this wait.
		kgo.FetchMaxWait(200*time.Millisecond),
	)
}

// pauser is what onAssigned needs of a client.
type pauser interface {
	PauseFetchPartitions(map[string][]int32) map[string][]int32
	ResumeFetchPartitions(map[string][]int32)
}

// onAssigned lets State load new partitions before their records are fetched.
func (w *worker) onAssigned(ctx context.Context, client pauser, gained map[string][]int32) {
	if w.State == nil {
		return
	}
	client.PauseFetchPartitions(gained)
	for topic, partitions := range gained {
		w.State.OnAssigned(partitions)
		for _, p := range partitions {
			ctx, cancel := context.WithCancel(ctx)
			w.mu.Lock()
			w.loading[topicPartition{topic, p}] = cancel
			w.mu.Unlock()
			w.loads.Go(func() {
				defer cancel()
				w.State.Load(ctx, p)
				client.ResumeFetchPartitions(map[string][]int32{topic: {p}})
			})
		}
	}
}

// onRevoked gives State some time to let partitions go, and gives tasks that are begun the same
// time to end: the next owner reads the partition's state, and would not find in it a record
// that is still worked on here.
func (w *worker) onRevoked(ctx context.Context, lost map[string][]int32) {
	if w.State == nil {
		return
	}
	w.stopLoading(lost)
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	w.drain(ctx)
	for _, partitions := range lost {
		w.State.OnRevoked(ctx, partitions)
	}
}

// revokeTimeout bounds the wait of a rebalance for acknowledgements.
const revokeTimeout = 2 * time.Second

func (w *worker) stopLoading(lost map[string][]int32) {
	w.each(lost, func(p topicPartition) {
		if cancel := w.loading[p]; cancel != nil {
			cancel()
			delete(w.loading, p)
		}
	})
}

func (w *worker) forget(lost map[string][]int32) {
	w.each(lost, func(p topicPartition) { delete(w.progress, p) })
}

// each calls do with each partition, under the lock.
func (w *worker) each(all map[string][]int32, do func(topicPartition)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for topic, partitions := range all {
		for _, p := range partitions {
			do(topicPartition{topic, p})
		}
	}
}
