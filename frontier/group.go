package frontier

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/politeness"
	"github.com/weftcrawl/weft/urls"
)

// A group is URLs of a domain of which it is learnt late, or not at all, whether
// they have to be fetched: other spellings of URLs that were named before. Each group has
// a queue of its own, so that its state can change without a look at its URLs:
//
//	open       trials of them are fetched like others. The rest waits behind
//	           everything else of the domain: when nothing of it has moved for
//	           quietWait, as many as were fetched so far become trials, too
//	withdrawn  they are not fetched, and not pending
//	free       they are fetched like others
//
// Package dedupe's stage tells the states, in the events that tell URLs. A group
// that nothing was told of is open.

const (
	// trials is how many URLs of an open group are fetched first.
	trials = 16
	// quietWait is how long nothing of a domain has moved when what waits behind is
	// fetched. What a response leads to is queued by then: a group that is about
	// to be withdrawn is not fetched because the queues ran empty for a moment.
	quietWaitMS = 5000
)

// class is how the URLs of a group are served.
type class byte

const (
	trial     class = iota // before others
	free                   // among others
	behind                 // after all others
	withdrawn              // not at all
	classes
)

// group is the record of one group. The zero value is one never heard of.
type group struct {
	state weftpb.Group_State
	// count URLs have numbers in [head, tail); head is that of the first.
	count, head, tail uint64
	// left is how many have left it while it was open, of allowed ones.
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
	return behind
}

// take notes that n URLs leave for good.
func (g *group) take(n uint64) {
	g.count -= n
	if g.state != weftpb.Group_STATE_UNSPECIFIED {
		return
	}
	for g.left += n; g.left > g.allowed; {
		g.allowed *= 2
	}
}

// next is how many URLs of the group are served before its class may change.
func (g *group) next() uint64 {
	switch g.class() {
	case trial:
		return min(g.count, g.allowed-g.left)
	case behind:
		return min(g.count, g.allowed)
	}
	return g.count
}

func (g *group) encode() []byte {
	w := make(writer, 0, 24)
	for _, n := range []uint64{uint64(g.state), g.count, g.head, g.tail, g.left, g.allowed} {
		w.uint(n)
	}
	return w
}

func decodeGroup(b []byte) (*group, error) {
	g := &group{allowed: trials}
	if b == nil {
		return g, nil
	}
	r := reader{rest: b}
	g.state = weftpb.Group_State(r.uint32())
	for _, n := range []*uint64{&g.count, &g.head, &g.tail, &g.left, &g.allowed} {
		*n = r.uint()
	}
	return g, r.err()
}

// asides is what a domain's record remembers of its groups.
type asides struct {
	// counts are URLs in groups, by class.
	counts [classes]uint64
	// movedMS is when the domain last took something in.
	movedMS int64
}

// waiting is the number of URLs in groups that are pending.
func (a *asides) waiting() uint64 { return a.counts[trial] + a.counts[free] + a.counts[behind] }

// quietMS is when what waits behind may be served.
func (a *asides) quietMS() int64 { return a.movedMS + quietWaitMS }

func (a *asides) quiet(nowMS int64) bool {
	return nowMS >= a.quietMS() || a.movedMS > nowMS+politeness.MaxWait.Milliseconds()
}

// group reads the record of a group.
func (x *fold) group(name string) (*group, error) {
	g, err := decodeGroup(x.store.Get(x.keys.group(name)))
	if err != nil {
		return nil, err
	}
	return g, nil
}

// regroup changes a group and what is counted of it.
func (x *fold) regroup(name string, change func(*group) error) error {
	g, err := x.group(name)
	if err != nil {
		return err
	}
	before, held := g.class(), g.count
	if err := change(g); err != nil {
		return err
	}
	after := g.class()
	x.d.asides.counts[before] -= held
	x.d.asides.counts[after] += g.count
	x.g.queued += pendingOf(after, g.count) - pendingOf(before, held)
	x.g.withdrawn += int64(g.count) - pendingOf(after, g.count) - int64(held) + pendingOf(before, held)
	if held > 0 && (before != after || g.count == 0) {
		x.store.Delete(x.keys.served(before, name))
	}
	if g.count > 0 && (before != after || held == 0) {
		x.store.Set(x.keys.served(after, name), nil)
	}
	x.store.Set(x.keys.group(name), g.encode())
	return nil
}

// pendingOf is how many of the URLs of a group are pending.
func pendingOf(c class, count uint64) int64 {
	if c == withdrawn {
		return 0
	}
	return int64(count)
}

// setState folds what dedupe has learnt of a group.
func (x *fold) setState(told *weftpb.Group) error {
	return x.regroup(told.GetName(), func(g *group) error {
		g.state = told.GetState()
		return nil
	})
}

// putAside folds the admission of a URL to its group.
func (x *fold) putAside(q *weftpb.Request) error {
	name := q.GetTarget().GetGroup()
	return x.regroup(name, func(g *group) error {
		if g.count == 0 {
			g.head = g.tail
		}
		x.store.Set(x.keys.aside(name, g.tail), encodeRequest(q))
		x.store.Set(x.keys.asideOf(q.GetTarget().GetUrl()), append(binary.AppendUvarint(nil, g.tail), name...))
		g.count++
		g.tail++
		return nil
	})
}

// takeAside removes n URLs from the front of a group.
func (x *fold) takeAside(name string, n uint64) error {
	return x.regroup(name, func(g *group) error {
		if n > g.count || g.state == weftpb.Group_STATE_WITHDRAWN {
			return impossible("%d URLs leave group %q, which holds %d and is %v", n, name, g.count, g.state)
		}
		var gone [][]byte
		var err error
		x.store.Scan(x.keys.aside(name, g.head), x.keys.aside(name, g.tail), func(key, value []byte) bool {
			if uint64(len(gone)) == 2*n {
				g.head = seqOf(key)
				return false
			}
			var q *weftpb.Request
			if q, err = decodeRequest(value); err != nil {
				return false
			}
			gone = append(gone, slices.Clone(key), x.keys.asideOf(q.Target.Url))
			return true
		})
		switch {
		case err != nil:
			return err
		case uint64(len(gone)) < 2*n:
			return impossible("%d URLs leave group %q, of which %d were found", n, name, len(gone)/2)
		}
		for _, key := range gone {
			x.store.Delete(key)
		}
		g.take(n)
		return nil
	})
}

// recall moves a URL from its group to the queue of its priority.
func (x *fold) recall(r *weftpb.Recall) error {
	url := r.GetUrl()
	name, seq, ok := x.placeAside(url)
	if !ok || name != r.GetGroup() {
		return impossible("%q is recalled from group %q, and is not in it", url, r.GetGroup())
	}
	key := x.keys.aside(name, seq)
	q, err := decodeRequest(x.store.Get(key))
	if err != nil {
		return err
	}
	err = x.regroup(name, func(g *group) error {
		x.store.Delete(key)
		x.store.Delete(x.keys.asideOf(url))
		g.count--
		if seq == g.head {
			g.head++
			x.store.Scan(x.keys.aside(name, g.head), x.keys.aside(name, g.tail), func(key, _ []byte) bool {
				g.head = seqOf(key)
				return false
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.admit(q)
}

// placeAside tells in which group a URL waits, and under which number.
func (x *fold) placeAside(url string) (name string, seq uint64, ok bool) {
	b := x.store.Get(x.keys.asideOf(url))
	seq, n := binary.Uvarint(b)
	if n <= 0 {
		return "", 0, false
	}
	return string(b[n:]), seq, true
}

// hearOfGroups takes over what changes: states that are others, and URLs that are
// in a group.
func (p *plan) hearOfGroups(news *weftpb.Deduped) error {
	for _, told := range news.GetGroups() {
		g, err := p.group(told.GetName())
		if err != nil {
			return err
		}
		if g.state != told.GetState() {
			p.ev.Groups = append(p.ev.Groups, told)
		}
	}
	recalled := map[string]bool{}
	for _, url := range news.GetRecalled() {
		if name, _, ok := p.placeAside(url); ok && !recalled[url] {
			recalled[url] = true
			p.ev.Recalled = append(p.ev.Recalled, &weftpb.Recall{Url: url, Group: name})
			p.bytes += len(url) + len(name)
		}
	}
	return nil
}

// withoutTwin is a target as it is queued: which URL it may be the same as is told by
// dedupe's event.
func withoutTwin(t *weftpb.Target) *weftpb.Target {
	if t.GetTwin() == "" {
		return t
	}
	t = proto.CloneOf(t)
	t.Twin = ""
	return t
}

// seqOf is the number at the end of a key.
func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// group is the key of a group's record.
func (k keys) group(name string) []byte { return append(k.make(groupKind, len(name)), name...) }

// served is the key by which groups of a class are found, served(c, "") what it
// begins with. Only groups that hold URLs have one.
func (k keys) served(c class, name string) []byte {
	return append(append(k.make(servedKind, len(name)+1), byte(c)), name...)
}

// aside is the key of a URL in a group.
func (k keys) aside(name string, seq uint64) []byte {
	key := append(append(k.make(asideKind, len(name)+9), name...), 0)
	return binary.BigEndian.AppendUint64(key, seq)
}

// asideOf is the key of the place of a URL that is in a group.
func (k keys) asideOf(url string) []byte {
	print := urls.Fingerprint(url)
	return append(k.make(placeKind, len(print)), print[:]...)
}
