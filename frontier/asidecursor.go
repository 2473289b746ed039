package frontier

import (
	"bytes"
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/state"
)

// asideCursor reads the groups of a class, one after another.
type asideCursor struct {
	keys  keys
	store state.Store
	class class
	// count is how many URLs of the class are not popped.
	count uint64
	// all: the groups are read to their end, and not only what is served now.
	all bool
	// after is the key behind which the next group is looked for, nil if there is
	// none.
	after []byte
	// Of the group that is being read: its name, how many of its URLs are not read
	// yet, and the keys between which these are.
	name        string
	left        uint64
	next, upper []byte
	ahead       []*weftpb.Request
}

// newAsideCursor reads the groups of a class; there is nothing to read if the domain
// has no URL in them.
func newAsideCursor(x *fold, c class) asideCursor {
	cursor := asideCursor{keys: x.keys, store: x.store, class: c, count: x.d.asides.counts[c]}
	if cursor.count > 0 {
		cursor.after = x.keys.served(c, "")
	}
	return cursor
}

// fill reads ahead. It reports whether there is a URL.
func (c *asideCursor) fill() (bool, error) {
	for len(c.ahead) == 0 {
		if c.left == 0 {
			found, err := c.open()
			if !found || err != nil {
				return false, err
			}
		}
		if err := c.read(); err != nil {
			return false, fmt.Errorf("read group %q: %w", c.name, err)
		}
	}
	return true, nil
}

// open begins with the next group of the class.
func (c *asideCursor) open() (found bool, err error) {
	if c.after == nil {
		return false, nil
	}
	prefix := c.keys.served(c.class, "")
	c.store.Scan(c.after, c.keys.served(c.class+1, ""), func(key, _ []byte) bool {
		found, c.name = true, string(key[len(prefix):])
		c.after = append(bytes.Clone(key), 0)
		return false
	})
	if !found {
		c.after = nil
		return false, nil
	}
	g, err := decodeGroup(c.store.Get(c.keys.group(c.name)))
	if err != nil {
		return false, err
	}
	c.left = g.next()
	if c.all {
		c.left = g.count
	}
	c.next, c.upper = c.keys.aside(c.name, g.head), c.keys.aside(c.name, g.tail)
	return true, nil
}

// read reads the next URLs of the group.
func (c *asideCursor) read() (err error) {
	c.store.Scan(c.next, c.upper, func(key, value []byte) bool {
		var q *weftpb.Request
		if q, err = decodeRequest(value); err != nil {
			return false
		}
		q.Target.Group = c.name
		c.ahead = append(c.ahead, q)
		c.next = append(append(c.next[:0], key...), 0)
		c.left--
		return c.left > 0 && len(c.ahead) < readAhead
	})
	if err == nil && len(c.ahead) == 0 {
		err = errValue // it holds less than it says
	}
	return err
}
