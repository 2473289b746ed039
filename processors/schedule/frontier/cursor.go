package frontier

import (
	"bytes"
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
	"github.com/weftcrawl/weft/internal/politeness"
)

// candidate is the URL that goes out next, if it may.
type candidate struct {
	request *weftpb.Request
	// turn is the domain's turn after it.
	turn uint32
	from *front
}

// pop makes the next URL of the same place the one at the front.
func (c *candidate) pop() {
	c.from.ahead = c.from.ahead[1:]
	c.from.count--
}

// front reads the URLs between two keys in the order in which they are served, some at a
// time, without removing them. The zero value has no URL.
type front struct {
	x *fold
	// count is how many URLs are not popped, left how many are not read yet.
	count, left uint64
	next, upper []byte
	ahead       []*weftpb.Request
	// again and group are the place of the URLs. Of retries, fewer than left may be
	// there, because only those are read that are ready.
	again bool
	group string
}

// readAhead is how many entries one scan reads.
const readAhead = 16

// fill reads ahead. It tells whether there is a URL.
func (f *front) fill() bool {
	if len(f.ahead) > 0 || f.left == 0 {
		return len(f.ahead) > 0
	}
	for e, err := range entries(f.x.store, f.next, f.upper) {
		if err != nil {
			f.x.fail(fmt.Errorf("read queue at %q: %w", f.next, err))
			return false
		}
		e.Again, e.Target.Group = f.again, f.group
		f.ahead = append(f.ahead, e.Request)
		f.next = append(append(f.next[:0], e.key...), 0)
		if f.left--; f.left == 0 || len(f.ahead) == readAhead {
			return true
		}
	}
	if !f.again {
		f.x.fail(fmt.Errorf("read queue at %q: %d entries are missing: %w", f.next, f.left, kv.ErrValue))
		return false
	}
	f.left = 0
	return len(f.ahead) > 0
}

// groupFront reads the groups of a class, one after another.
type groupFront struct {
	front
	class class
	// all: the groups are read to their end, and not only what is served now.
	all bool
	// after is the key after which the next group is looked for, nil if there is none.
	after []byte
}

func newGroupFront(x *fold, c class, all bool) groupFront {
	f := groupFront{front: front{x: x, count: x.d.groups.counts[c]}, class: c, all: all}
	if f.count > 0 {
		f.after = x.keys.served(c, "")
	}
	return f
}

func (f *groupFront) fill() bool {
	for !f.front.fill() {
		if f.after == nil || f.x.err != nil {
			return false
		}
		f.open()
	}
	return true
}

// open begins with the next group of the class, if there is one.
func (f *groupFront) open() {
	x, after := f.x, f.after
	f.after = nil
	for key := range kv.Range(x.store, after, x.keys.served(f.class+1, "")) {
		f.group = string(key[len(x.keys.served(f.class, "")):])
		f.after = append(bytes.Clone(key), 0)
		break
	}
	if f.after == nil {
		return
	}
	g := x.group(f.group)
	f.left = g.next()
	if f.all {
		f.left = g.count
	}
	f.next, f.upper = x.keys.grouped(f.group, g.head), x.keys.grouped(f.group, g.tail)
}

// cursors are the fronts of a domain's queues, retries and groups.
type cursors struct {
	x       *fold
	queues  [priorities]front
	retries front
	// trials and free each share the turns of a priority. whenIdle is served when
	// nothing else is there and the domain is idle.
	trials, free, whenIdle groupFront
	idle                   bool
}

// The priorities whose turns groups share.
const (
	trialPriority = 1
	freePriority  = 3
)

// newCursors returns the fronts of what is ready; if all, of all retries and groups,
// whatever they wait for.
func newCursors(x *fold, all bool) cursors {
	c := cursors{
		x: x, trials: newGroupFront(x, trial, all), free: newGroupFront(x, free, all), whenIdle: newGroupFront(x, whenIdle, all),
		idle: all || len(x.d.visits) == 0 && x.d.groups.idle(x.nowMS),
	}
	for p, q := range x.d.queues {
		if q.len() > 0 {
			c.queues[p] = front{x: x, count: q.len(), left: q.len(), next: x.keys.queue(p, q.head), upper: x.keys.queue(p, q.tail)}
		}
	}
	n, head := x.d.retries.count, x.d.retries.headMS
	if ahead := absurd(head, x.nowMS); n > 0 && (all || ahead || head <= x.nowMS) {
		c.retries = front{x: x, again: true, count: n, left: n, next: x.keys.retry(head, 0)}
		switch {
		case all:
			c.retries.upper = x.keys.retriesEnd()
		case ahead:
			c.retries.upper = x.keys.retry(head+politeness.MaxWait.Milliseconds(), 0)
		default:
			c.retries.upper = x.keys.retry(x.nowMS+1, 0)
		}
	}
	return c
}

// front returns the URL that is served at turn, nil when there is none. Retries that
// are ready come first, then the queues by weight. If a group shares the turns of a
// queue, the shorter of the two goes first, and trials go before both.
func (c *cursors) front(turn uint32) *candidate {
	from, next := &c.retries, turn
	if !from.fill() {
		tried, freed := c.trials.fill(), c.free.fill()
		priority, after, ok := serve(turn, func(p int) bool {
			return c.queues[p].count > 0 || tried && p == trialPriority || freed && p == freePriority
		})
		from, next = &c.queues[priority], after
		switch {
		case !ok:
			if !c.idle || !c.whenIdle.fill() {
				return nil
			}
			from = &c.whenIdle.front
		case tried && priority == trialPriority:
			from = &c.trials.front
		case freed && priority == freePriority && (from.count == 0 || c.free.count <= from.count):
			from = &c.free.front
		}
	}
	if !from.fill() || c.x.err != nil {
		return nil
	}
	return &candidate{from.ahead[0], next, from}
}
