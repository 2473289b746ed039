package frontier

import (
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/internal/urls"
)

// A group is a set of URLs of a domain. The crawl learns late, or never, whether they must be
// fetched: they may be variants of known URLs, or URLs of a trap. Each group has a queue of its
// own, so its state can change without reading its URLs:
//
//	open       Some URLs, the trials, are fetched like others. The rest waits until
//	           nothing else of the domain has moved for idleWaitMS. Then as many URLs
//	           as were fetched so far become trials, too.
//	withdrawn  The URLs are not fetched, and are not pending.
//	free       The URLs are fetched like others.
//
// The stage dedupe tells the states in its events. A group without a state is open.

const (
	// trials is how many URLs of an open group are fetched first.
	trials = 16
	// idleWaitMS is how long a domain must be idle before the rest of an open group is fetched.
	// In this time the URLs of a last response are queued. With a shorter wait, queues that are
	// empty for a moment would start a group that is about to be withdrawn.
	idleWaitMS = 5000
)

// class is how the URLs of a group are served.
type class byte

const (
	trial     class = iota // before others
	free                   // among others
	whenIdle               // after all others
	withdrawn              // not at all
	classes
)

// group is the record of one group. The zero value is an unknown group.
type group struct {
	state weftpb.Group_State
	// count is the number of URLs. Their sequence numbers are in [head, tail), and head is the
	// number of the first.
	count, head, tail uint64
	// left is the number of URLs that have left the group while it was open. allowed is how many
	// may leave it.
	left, allowed uint64
}

func (g *group) class() class {
	switch {
	case g.state == weftpb.Group_STATE_WITHDRAWN:
		return withdrawn
	case g.state == weftpb.Group_STATE_FREE:
		return free
	case g.left < g.allowed:
		return trial
	}
	return whenIdle
}

// take notes that n URLs leave the group for good.
func (g *group) take(n uint64) {
	g.count -= n
	if g.state != weftpb.Group_STATE_UNSPECIFIED {
		return
	}
	for g.left += n; g.left > g.allowed; {
		g.allowed *= 2
	}
}

// next returns the number of URLs of the group that are served before its class may change.
func (g *group) next() uint64 {
	switch g.class() {
	case trial:
		return min(g.count, g.allowed-g.left)
	case whenIdle:
		return min(g.count, g.allowed)
	}
	return g.count
}

func (g *group) fields(f *kv.Fields) {
	state := uint32(g.state)
	f.Uint32(&state)
	g.state = weftpb.Group_State(state)
	for _, n := range []*uint64{&g.count, &g.head, &g.tail, &g.left, &g.allowed} {
		f.Uint(n)
	}
}

func (g *group) encode() []byte { return kv.Encode(24, g.fields) }

func decodeGroup(b []byte) (*group, error) {
	g := &group{allowed: trials}
	if b == nil {
		return g, nil
	}
	return g, kv.Decode(b, g.fields)
}

// groupCounts is what a domain's record remembers of its groups.
type groupCounts struct {
	// counts is the number of URLs in groups, by class.
	counts [classes]uint64
	// movedMS is when the domain was last not idle: it took an input.
	movedMS int64
}

// waiting returns the number of URLs in groups that are pending.
func (a *groupCounts) waiting() uint64 { return a.counts[trial] + a.counts[free] + a.counts[whenIdle] }

// idleAtMS returns the time at which the URLs of the class whenIdle may be served.
func (a *groupCounts) idleAtMS() int64 { return a.movedMS + idleWaitMS }

// idle tells whether the domain was idle for idleWaitMS.
func (a *groupCounts) idle(nowMS int64) bool {
	return nowMS >= a.idleAtMS() || a.movedMS > nowMS+politeness.MaxWait.Milliseconds()
}

func (x *fold) group(name string) *group {
	g, err := decodeGroup(x.store.Get(x.keys.group(name)))
	if err != nil {
		x.fail(fmt.Errorf("read group %q: %w", name, err))
	}
	return g
}

// regroup changes a group, and with it the counts of its URLs.
func (x *fold) regroup(name string, change func(*group)) {
	g := x.group(name)
	before, held := g.class(), g.count
	change(g)
	after := g.class()
	x.d.groups.counts[before] -= held
	x.d.groups.counts[after] += g.count
	x.g.queued += pendingOf(after, g.count) - pendingOf(before, held)
	x.g.withdrawn += int64(g.count) - pendingOf(after, g.count) - int64(held) + pendingOf(before, held)
	if held > 0 && (before != after || g.count == 0) {
		x.store.Delete(x.keys.served(before, name))
	}
	if g.count > 0 && (before != after || held == 0) {
		x.store.Set(x.keys.served(after, name), nil)
	}
	x.store.Set(x.keys.group(name), g.encode())
}

// pendingOf returns how many of the URLs of a group are pending.
func pendingOf(c class, count uint64) int64 {
	if c == withdrawn {
		return 0
	}
	return int64(count)
}

func (x *fold) setState(told *weftpb.Group) {
	x.regroup(told.GetName(), func(g *group) { g.state = told.GetState() })
}

func (x *fold) joinGroup(q *weftpb.Request) {
	name := q.GetTarget().GetGroup()
	x.regroup(name, func(g *group) {
		if g.count == 0 {
			g.head = g.tail
		}
		x.store.Set(x.keys.grouped(name, g.tail), encodeRequest(q))
		x.store.Set(x.keys.placeOf(q.GetTarget().GetUrl()), append(binary.AppendUvarint(nil, g.tail), name...))
		g.count++
		g.tail++
	})
}

// leaveGroup removes n URLs from the front of a group.
func (x *fold) leaveGroup(name string, n uint64) {
	x.regroup(name, func(g *group) {
		if n > g.count || g.state == weftpb.Group_STATE_WITHDRAWN {
			x.impossible("%d URLs leave group %q, which holds %d and is %v", n, name, g.count, g.state)
			return
		}
		var gone [][]byte
		for e, err := range entries(x.store, x.keys.grouped(name, g.head), x.keys.grouped(name, g.tail)) {
			if err != nil {
				x.fail(err)
				return
			}
			if uint64(len(gone)) == 2*n {
				g.head = seqOf(e.key)
				break
			}
			gone = append(gone, slices.Clone(e.key), x.keys.placeOf(e.Target.Url))
		}
		if uint64(len(gone)) < 2*n {
			x.impossible("%d URLs leave group %q, of which %d were found", n, name, len(gone)/2)
			return
		}
		for _, key := range gone {
			x.store.Delete(key)
		}
		g.take(n)
	})
}

// recall moves a URL from its group to the queue of its priority.
func (x *fold) recall(r *weftpb.Recall) {
	url := r.GetUrl()
	name, seq, ok := x.placeInGroup(url)
	if !ok || name != r.GetGroup() {
		x.impossible("%q is recalled from group %q, and is not in it", url, r.GetGroup())
		return
	}
	key := x.keys.grouped(name, seq)
	q, err := decodeRequest(x.store.Get(key))
	if err != nil {
		x.fail(err)
		return
	}
	x.regroup(name, func(g *group) {
		x.store.Delete(key)
		x.store.Delete(x.keys.placeOf(url))
		g.count--
		if seq == g.head {
			g.head++
			for next := range kv.Range(x.store, x.keys.grouped(name, g.head), x.keys.grouped(name, g.tail)) {
				g.head = seqOf(next)
				break
			}
		}
	})
	x.admit(q)
}

func (x *fold) placeInGroup(url string) (name string, seq uint64, ok bool) {
	b := x.store.Get(x.keys.placeOf(url))
	seq, n := binary.Uvarint(b)
	if n <= 0 {
		return "", 0, false
	}
	return string(b[n:]), seq, true
}

// updateGroups applies what an event of dedupe says about groups: some have a new state, and
// some URLs leave their group.
func (p *plan) updateGroups(news *weftpb.Deduped) {
	for _, told := range news.GetGroups() {
		if p.group(told.GetName()).state != told.GetState() {
			p.ev.Groups = append(p.ev.Groups, told)
		}
	}
	recalled := map[string]bool{}
	for _, url := range news.GetRecalled() {
		if name, _, ok := p.placeInGroup(url); ok && !recalled[url] {
			recalled[url] = true
			p.ev.Recalled = append(p.ev.Recalled, &weftpb.Recall{Url: url, Group: name})
			p.bytes += len(url) + len(name)
		}
	}
}

// withoutTwin returns a target without its twin, as it is queued. The event of dedupe has the
// twin.
func withoutTwin(t *weftpb.Target) *weftpb.Target {
	if t.GetTwin() == "" {
		return t
	}
	t = proto.CloneOf(t)
	t.Twin = ""
	return t
}

func (k keys) group(name string) []byte { return append(k.make(groupKind, len(name)), name...) }

// served returns the key by which a group of a class is found. served(c, "") is the prefix of
// all these keys. Only groups that hold URLs have such a key.
func (k keys) served(c class, name string) []byte {
	return append(append(k.make(servedKind, len(name)+1), byte(c)), name...)
}

func (k keys) grouped(name string, seq uint64) []byte {
	key := append(append(k.make(groupedKind, len(name)+9), name...), 0)
	return binary.BigEndian.AppendUint64(key, seq)
}

func (k keys) placeOf(url string) []byte {
	print := urls.Fingerprint(url)
	return append(k.make(placeKind, len(print)), print[:]...)
}
