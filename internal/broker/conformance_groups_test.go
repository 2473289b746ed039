package broker

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// commit commits an offset of partition 0 for a group without members.
func (c corner) commit(group, topic string, at int64) {
	c.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, at, -1)
	if err := c.admin.CommitAllOffsets(c.ctx, c.prefix+group, offsets); err != nil {
		c.Fatal(err)
	}
}

// committed reads the commit of a group in partition 0; -1: there is none.
func (c corner) committed(group, topic string) int64 {
	c.Helper()
	commits, err := c.admin.FetchOffsets(c.ctx, c.prefix+group)
	if err != nil {
		c.Fatal(err)
	}
	if o, ok := commits.Lookup(topic, 0); ok {
		return o.At
	}
	return -1
}

func groupKeepsCommits(c corner) {
	topic := c.topic("t", 2)
	c.commit("g", topic, 7)
	c.commit("g", topic, 5) // a ledger takes commits back
	if at := c.committed("g", topic); at != 5 {
		c.Errorf("commit at %d", at)
	}
	c.commit("h", topic, 1)
	many := c.admin.FetchManyOffsets(c.ctx, c.prefix+"g", c.prefix+"h")
	for group, want := range map[string]int64{"g": 5, "h": 1} {
		answer := many[c.prefix+group]
		if o, _ := answer.Fetched.Lookup(topic, 0); answer.Err != nil || o.At != want {
			c.Errorf("commit of %s at %d: %v", group, o.At, answer.Err)
		}
		if o, ok := answer.Fetched.Lookup(topic, 1); ok && o.At >= 0 {
			c.Errorf("commit of %s where nobody made one: %d", group, o.At)
		}
	}
	groups, err := c.admin.ListGroups(c.ctx)
	if err != nil || !slices.Contains(groups.Groups(), c.prefix+"g") {
		c.Errorf("groups are %v: %v", groups.Groups(), err)
	}
}

// A group that never had a member has no commits and no members. That is not an error, or an
// error of one name. In a cluster that never had any group there is no coordinator either, at
// first.
func groupOfNobody(c corner) {
	name := c.prefix + "nobody"
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		answer := c.admin.FetchManyOffsets(c.ctx, name)[name]
		err := errors.Join(answer.Err, answer.Fetched.Error())
		if errors.Is(err, kerr.CoordinatorNotAvailable) {
			<-ticker.C
			continue
		}
		if err != nil && !errors.Is(err, kerr.GroupIDNotFound) || len(answer.Fetched) > 0 {
			c.Errorf("its commits: %v, %v", answer.Fetched, err)
		}
		break
	}
	described, err := c.admin.DescribeGroups(c.ctx, name)
	if err != nil {
		c.Fatal(err)
	}
	if d := described[name]; d.Err != nil && !errors.Is(d.Err, kerr.GroupIDNotFound) || len(d.Members) > 0 {
		c.Errorf("described: %+v", d)
	}
}

// worker is a member of a group as the stages are.
type worker struct {
	client *kgo.Client

	mu    sync.Mutex
	owned map[int32]bool
}

// member joins a group; moved is told when the assignment of a member has
// changed.
func (c corner) member(group, topic string, moved chan<- struct{}) *worker {
	c.Helper()
	w := &worker{owned: map[int32]bool{}}
	change := func(partitions []int32, owned bool) {
		w.mu.Lock()
		for _, p := range partitions {
			if w.owned[p] = owned; !owned {
				delete(w.owned, p)
			}
		}
		w.mu.Unlock()
		select {
		case moved <- struct{}{}:
		default:
		}
	}
	w.client = c.connect(
		kgo.ConsumerGroup(c.prefix+group), kgo.ConsumeTopics(topic),
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(100*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(time.Hour), kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) { change(got[topic], true) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, lost map[string][]int32) {
			if err := client.CommitMarkedOffsets(ctx); err != nil {
				c.Errorf("commit before a rebalance: %v", err)
			}
			change(lost[topic], false)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { change(lost[topic], false) }),
	)
	return w
}

func (w *worker) owns() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.owned)
}

// await waits for a condition that moves with the group.
func (c corner) await(moved <-chan struct{}, what string, condition func() bool) {
	c.Helper()
	for !condition() {
		select {
		case <-moved:
		case <-c.ctx.Done():
			c.Fatalf("never: %s", what)
		}
	}
}

// Two members share the partitions; when one leaves, the other gets them all.
func groupIsShared(c corner) {
	topic := c.topic("t", 4)
	moved := make(chan struct{}, 100)
	first := c.member("g", topic, moved)
	c.await(moved, "the first member owns all", func() bool { return first.owns() == 4 })
	second := c.member("g", topic, moved)
	c.await(moved, "both own two", func() bool { return first.owns() == 2 && second.owns() == 2 })

	described, err := c.admin.DescribeGroups(c.ctx, c.prefix+"g")
	if err != nil {
		c.Fatal(err)
	}
	if d := described[c.prefix+"g"]; d.Err != nil || len(d.Members) != 2 || d.State != "Stable" {
		c.Errorf("described with two members: %+v", d)
	}
	first.client.CloseAllowingRebalance()
	c.await(moved, "the second member owns all", func() bool { return second.owns() == 4 })
}

// After a rebalance the next owner does not get records that a member has committed, and no record
// is skipped.
func groupHandsOverWithoutRepeats(c corner) {
	topic := c.topic("t", 2)
	const n = 40
	for i := range n {
		r := &kgo.Record{Topic: topic, Partition: int32(i % 2), Value: []byte(strconv.Itoa(i))}
		if err := c.client.ProduceSync(c.ctx, r).FirstErr(); err != nil {
			c.Fatal(err)
		}
	}
	seen := map[string]int{}
	poll := func(w *worker, atMost int) {
		ctx, cancel := context.WithTimeout(c.ctx, 200*time.Millisecond)
		defer cancel()
		fetches := w.client.PollRecords(ctx, atMost)
		fetches.EachRecord(func(r *kgo.Record) {
			seen[string(r.Value)]++
			w.client.MarkCommitRecords(r)
		})
		w.client.AllowRebalance()
	}
	moved := make(chan struct{}, 100)
	first := c.member("g", topic, moved)
	for len(seen) < 10 && c.ctx.Err() == nil {
		poll(first, 10)
	}
	second := c.member("g", topic, moved)
	for len(seen) < n && c.ctx.Err() == nil {
		poll(first, 1)
		poll(second, 1)
	}
	for value, times := range seen {
		if times != 1 {
			c.Errorf("record %s was read %d times", value, times)
		}
	}
	if len(seen) != n {
		c.Errorf("%d of %d records were read", len(seen), n)
	}
}

// Commits from outside are refused while a group has members.
func groupRefusesStrangers(c corner) {
	topic := c.topic("t", 1)
	moved := make(chan struct{}, 100)
	only := c.member("g", topic, moved)
	c.await(moved, "the member owns the partition", func() bool { return only.owns() == 1 })
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, 1, -1)
	if err := c.admin.CommitAllOffsets(c.ctx, c.prefix+"g", offsets); !errors.Is(err, kerr.UnknownMemberID) {
		c.Errorf("a commit from outside: %v", err)
	}
	if at := c.committed("g", topic); at >= 0 {
		c.Errorf("it holds: %d", at)
	}
}

// A member that says nothing for longer than its session is no member any more:
// another gets its partitions, and what it commits later is refused.
func groupForgetsSilentMember(c corner) {
	topic := c.topic("t", 1)
	silent := c.join("g", topic, 6*time.Second)
	if err := silent.heartbeat(); err != nil {
		c.Fatalf("a heartbeat in time: %v", err)
	}
	if err := silent.commit(topic, 3); err != nil {
		c.Fatalf("a commit in time: %v", err)
	}
	moved := make(chan struct{}, 100)
	other := c.member("g", topic, moved)
	c.await(moved, "the other member owns the partition", func() bool { return other.owns() == 1 })
	if err := silent.heartbeat(); !errors.Is(err, kerr.UnknownMemberID) {
		c.Errorf("a heartbeat too late: %v", err)
	}
	if err := silent.commit(topic, 9); !errors.Is(err, kerr.UnknownMemberID) && !errors.Is(err, kerr.IllegalGeneration) {
		c.Errorf("a commit too late: %v", err)
	}
	if at := c.committed("g", topic); at != 3 {
		c.Errorf("the group is at %d", at)
	}
}

func groupRefusesShortSessions(c corner) {
	topic := c.topic("t", 1)
	if _, err := c.tryJoin("g", topic, 10*time.Millisecond); !errors.Is(err, kerr.InvalidSessionTimeout) {
		c.Errorf("a session of 10 ms: %v", err)
	}
}
