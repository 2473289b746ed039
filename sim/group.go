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

// group is the coordinator of a consumer group. A partition is given to its
// next owner only when the one before has given it up, or was expelled after
// its session time-out; an expelled member that is stopped knows nothing of it.
type group struct {
	w          *world
	name       string
	partitions int32
	members    []*member
	generation int
	preparing  bool
	deadline   time.Duration
	commits    map[place]int64
	sluggish   time.Duration // heartbeats are answered late until then
}

// member is one life of a stage in its group.
type member struct {
	group      *group
	life       *life
	generation int           // as the member knows it
	seen       time.Duration // last heartbeat, at the coordinator
	joined     bool          // in the generation that is being prepared
	expelled   bool
	entries    int // how often the member asked to join

	// assigned gives partitions; revoked takes all of them back, and calls
	// then when the member has let go.
	assigned func(partitions []int32)
	revoked  func(then func())
	// joins and beats, if set, are told of the answers to the request that
	// began the membership and to heartbeats, and when they had been sent.
	joins, beats func(sent time.Duration)

	giving  bool
	beating bool // heartbeats are sent
	on      int  // commits on their way
}

func newGroup(w *world, name string, partitions int32) *group {
	g := &group{w: w, name: name, partitions: partitions, commits: map[place]int64{}}
	w.after(time.Second, g.watch)
	return g
}

// join makes a life a member.
func (g *group) join(m *member) {
	m.group, m.life.member = g, m
	g.enter(m)
}

// enter sends a join request.
func (g *group) enter(m *member) {
	g.w.trace("%s asks to join %s", m.life.name, g.name)
	m.entries++
	entry := m.entries
	g.w.after(g.w.latency(), func() {
		if m.life.ended || entry != m.entries {
			return
		}
		if !slices.Contains(g.members, m) {
			g.members = append(g.members, m)
			slices.SortFunc(g.members, func(a, b *member) int { return strings.Compare(a.life.name, b.life.name) })
		}
		m.expelled, m.joined, m.seen = false, true, g.w.now
		g.prepare()
		g.settle()
	})
}

// prepare begins a rebalance.
func (g *group) prepare() {
	if g.preparing {
		return
	}
	g.preparing = true
	g.deadline = g.w.now + rebalanceTimeout
	g.w.at(g.deadline, g.settle)
}

// settle ends a rebalance when all have joined, or those who have not had long
// enough.
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
		m.joined, m.seen = false, g.w.now
		generation, entries, synced := g.generation, m.entries, g.w.now
		m.life.after(g.w.latency(), func() {
			// A member that was stopped may not know that it was expelled.
			if entries != m.entries {
				return // it asked to join again since
			}
			m.generation = generation
			if m.joins != nil {
				m.joins(synced)
			}
			if !m.beating {
				m.beating = true
				m.life.after(heartbeat, m.beat)
			}
			g.w.trace("%s gets %v of %s", m.life.name, shares[i], g.name)
			m.assigned(shares[i])
		})
	}
}

// beat sends a heartbeat and acts upon its answer; the next one follows that,
// unless it says that the member is none any more.
func (m *member) beat() {
	g, w, sent := m.group, m.group.w, m.group.w.now
	w.after(w.latency(), func() {
		if m.life.ended {
			return
		}
		expelled, moving := m.expelled, g.preparing && !m.joined
		if !expelled {
			m.seen = w.now
		}
		late := w.latency()
		if g.sluggish > w.now {
			late = w.between(0, sessionTimeout*6/10)
		}
		m.life.after(late, func() { m.answered(sent, expelled, moving) })
	})
}

func (m *member) answered(sent time.Duration, expelled, moving bool) {
	if m.beats != nil {
		m.beats(sent)
	}
	if m.beating = !expelled; m.beating {
		m.life.after(heartbeat, m.beat)
	}
	if !(expelled || moving) || m.giving {
		return
	}
	m.giving = true
	m.revoked(func() {
		m.giving = false
		m.group.enter(m)
	})
}

// leave tells the coordinator that the member is gone.
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

// watch expels members that are silent for too long.
func (g *group) watch() {
	for _, m := range slices.Clone(g.members) {
		if !m.joined && g.w.now-m.seen > sessionTimeout { // who has joined waits for an answer
			g.w.trace("%s is expelled from %s", m.life.name, g.name)
			g.expel(m)
			g.prepare()
		}
	}
	g.settle()
	g.w.after(time.Second, g.watch)
}

// commit sends a commit, which counts if the member still is one.
func (m *member) commit(at place, next int64) {
	g, generation := m.group, m.generation
	m.on++
	g.w.after(g.w.latency(), func() {
		m.on--
		if !m.expelled && generation == g.generation && next > g.committed(at) {
			g.commits[at] = next
		}
	})
}

// committed is where the group goes on; 0 before its first commit.
func (g *group) committed(at place) int64 { return g.commits[at] }
