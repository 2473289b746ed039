package frontier

import (
	"bytes"
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/kv"
)

// front reads the URLs between two keys in the order of service, a few at a time, without
// removing them. The zero value has no URLs.
type front struct {
	x *fold
	// count is the number of URLs that are not popped. left is how many of them are not read yet.
	count, left uint64
	next, upper []byte
	ahead       []*weftpb.Request
	group       string
}

// pop removes the URL at the front.
func (f *front) pop() {
	f.ahead = f.ahead[1:]
	f.count--
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
		e.Target.Group = f.group
		f.ahead = append(f.ahead, e.Request)
		f.next = append(append(f.next[:0], e.key...), 0)
		if f.left--; f.left == 0 || len(f.ahead) == readAhead {
			return true
		}
	}
	f.x.fail(fmt.Errorf("read queue at %q: %d entries are missing: %w", f.next, f.left, kv.ErrValue))
	return false
}

// groupFront reads the groups of a class, one after another.
type groupFront struct {
	front
	class class
	// after is the key at which the search for the next group begins; nil: there are no more
	// groups.
	after []byte
}

func newGroupFront(x *fold, c class) groupFront {
	f := groupFront{front: front{x: x, count: x.d.groups.counts[c]}, class: c}
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
	f.next, f.upper = x.keys.grouped(f.group, g.head), x.keys.grouped(f.group, g.tail)
}

// groupFronts are the fronts of a domain's groups.
type groupFronts struct {
	// trials and free each share the turns of a priority. whenIdle is served when the domain
	// is idle and has no other URLs.
	trials, free, whenIdle groupFront
	idle                   bool
}

// The priorities whose turns groups share.
const (
	trialPriority = 1
	freePriority  = 3
)

func newGroupFronts(x *fold) groupFronts {
	return groupFronts{
		trials: newGroupFront(x, trial), free: newGroupFront(x, free), whenIdle: newGroupFront(x, whenIdle),
		idle: len(x.d.visits) == 0 && x.d.groups.idle(x.nowMS),
	}
}
