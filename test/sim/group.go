package sim

import (
	"slices"
	"strings"
	"time"
)

// Times of consumer groups.
const (
	sessionTimeout   = 10 * time.Second
	heartbeat        = time.Second
	leaseMargin      = 2 * time.Second
	rebalanceTimeout = 20 * time.Second
)

// group is the coordinator of a consumer group. A partition gets its next owner
// only after the one before has given it up, or was expelled at its session
// time-out. A member that is expelled while it is frozen does not know that.
type group struct {
	w          *world
	name       string
	partitions int32
	members    []*member
	generation int
	preparing  bool
	deadline   time.Duration
	commits    map[topicPartition]int64
	slowUntil  time.Duration // heartbeats are answered late until then
}

// member is an instance of a stage in its group.
type member struct {
	group         *group
	instance      *instance
	generation    int           // as the member knows it
	lastHeartbeat time.Duration // at the coordinator
	joined        bool          // in the generation that is being prepared
	expelled      bool
	joinRequests  int // how many the member has sent

	// assigned gives partitions to the member. revoked takes them all back, and
	// calls then when the member has ended its work on them.
	assigned func(partitions []int32)
	revoked  func(then func())
	// onJoin and onHeartbeat, if set, are called with the answers to the request
	// that began the membership and to heartbeats. sent is when the coordinator
	// ended the rebalance, or the member sent the heartbeat.
	onJoin, onHeartbeat func(sent time.Duration)

	revoking       bool
	heartbeating   bool // heartbeats are sent
	pendingCommits int  // sent and not arrived
}

func newGroup(w *world, name string, partitions int32) *group {
	g := &group{w: w, name: name, partitions: partitions, commits: map[topicPartition]int64{}}
	w.after(time.Second, g.watch)
	return g
}

func (g *group) join(m *member) {
	m.group, m.instance.member = g, m
	g.enter(m)
}

func (g *group) enter(m *member) {
	g.w.trace("%s asks to join %s", m.instance.name, g.name)
	m.joinRequests++
	entry := m.joinRequests
	g.w.after(g.w.latency(), func() {
		if m.instance.ended || entry != m.joinRequests {
			return
		}
		if !slices.Contains(g.members, m) {
			g.members = append(g.members, m)
			slices.SortFunc(g.members, func(a, b *member) int { return strings.Compare(a.instance.name, b.instance.name) })
		}
		m.expelled, m.joined, m.lastHeartbeat = false, true, g.w.now
		g.prepare()
		g.settle()
	})
}

func (g *group) prepare() {
	if g.preparing {
		return
	}
	g.preparing = true
	g.deadline = g.w.now + rebalanceTimeout
	g.w.at(g.deadline, g.settle)
}

// settle ends a rebalance when all members have joined. At the deadline it expels
// the others.
func (g *group) settle() {
	if !g.preparing {
		return
	}
	if g.w.now >= g.deadline {
		for _, m := range slices.Clone(g.members) {
			if !m.joined {
				g.expel(m)
			}
		}
	}
	if len(g.members) == 0 || slices.ContainsFunc(g.members, func(m *member) bool { return !m.joined }) {
		if g.w.now >= g.deadline {
			g.preparing = false
		}
		return
	}
	g.preparing = false
	g.generation++
	shares := make([][]int32, len(g.members))
	first := g.w.rng.IntN(len(g.members))
	for p := range g.partitions {
		to := (first + int(p)) % len(g.members)
		if g.w.chance(4) {
			to = g.w.rng.IntN(len(g.members))
		}
		shares[to] = append(shares[to], p)
	}
	for i, m := range g.members {
		m.joined, m.lastHeartbeat = false, g.w.now
		generation, joinRequests, synced := g.generation, m.joinRequests, g.w.now
		m.instance.after(g.w.latency(), func() {
			// A member that was frozen may not know that it was expelled.
			if joinRequests != m.joinRequests {
				return // it has asked to join again since
			}
			m.generation = generation
			if m.onJoin != nil {
				m.onJoin(synced)
			}
			if !m.heartbeating {
				m.heartbeating = true
				m.instance.after(heartbeat, m.sendHeartbeat)
			}
			g.w.trace("%s gets %v of %s", m.instance.name, shares[i], g.name)
			m.assigned(shares[i])
		})
	}
}

// sendHeartbeat sends a heartbeat and acts upon its answer. The next one follows
// the answer, unless that says that the member is expelled.
func (m *member) sendHeartbeat() {
	g, w, sent := m.group, m.group.w, m.group.w.now
	w.after(w.latency(), func() {
		if m.instance.ended {
			return
		}
		expelled, moving := m.expelled, g.preparing && !m.joined
		if !expelled {
			m.lastHeartbeat = w.now
		}
		late := w.latency()
		if g.slowUntil > w.now {
			late = w.between(0, sessionTimeout*6/10)
		}
		m.instance.after(late, func() { m.answered(sent, expelled, moving) })
	})
}

func (m *member) answered(sent time.Duration, expelled, moving bool) {
	if m.onHeartbeat != nil {
		m.onHeartbeat(sent)
	}
	if m.heartbeating = !expelled; m.heartbeating {
		m.instance.after(heartbeat, m.sendHeartbeat)
	}
	if !(expelled || moving) || m.revoking {
		return
	}
	m.revoking = true
	m.revoked(func() {
		m.revoking = false
		m.group.enter(m)
	})
}

// leave tells the coordinator that the member has ended.
func (m *member) leave() {
	g := m.group
	g.w.after(g.w.latency(), func() {
		if !m.expelled {
			g.expel(m)
			g.prepare()
			g.settle()
		}
	})
}

func (g *group) expel(m *member) {
	m.expelled = true
	g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
}

// watch expels members whose session has timed out.
func (g *group) watch() {
	for _, m := range slices.Clone(g.members) {
		if !m.joined && g.w.now-m.lastHeartbeat > sessionTimeout { // a member that has joined waits for an answer
			g.w.trace("%s is expelled from %s", m.instance.name, g.name)
			g.expel(m)
			g.prepare()
		}
	}
	g.settle()
	g.w.after(time.Second, g.watch)
}

// commit sends a commit. It counts if the member still belongs to the group.
func (m *member) commit(at topicPartition, next int64) {
	g, generation := m.group, m.generation
	m.pendingCommits++
	g.w.after(g.w.latency(), func() {
		m.pendingCommits--
		if !m.expelled && generation == g.generation && next > g.committed(at) {
			g.commits[at] = next
		}
	})
}

// committed is the offset from which the group goes on; 0 before its first commit.
func (g *group) committed(at topicPartition) int64 { return g.commits[at] }
