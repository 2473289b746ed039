package frontier

import (
	"bytes"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/state"
)

// overlay is a store whose writes stay in memory over a base that is only
// read. A decision folds what it has decided so far into one, and goes on from
// there: what it sees is what Apply will make of its event.
type overlay struct {
	base   state.Store
	writes map[string][]byte // nil: deleted
}

func (o *overlay) reset(base state.Store) {
	o.base = base
	if o.writes == nil {
		o.writes = map[string][]byte{}
	}
	clear(o.writes)
}

func (o *overlay) Get(key []byte) []byte {
	if value, ok := o.writes[string(key)]; ok {
		return value
	}
	return o.base.Get(key)
}

func (o *overlay) Set(key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	o.writes[string(key)] = value
}

func (o *overlay) Delete(key []byte) { o.writes[string(key)] = nil }

// Scan merges the writes in the range, of which there are few, with the base.
func (o *overlay) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	var over []string
	for key := range o.writes {
		if key >= string(lower) && key < string(upper) {
			over = append(over, key)
		}
	}
	slices.SortFunc(over, strings.Compare)
	stopped := false
	next := func() {
		if value := o.writes[over[0]]; value != nil {
			stopped = !visit([]byte(over[0]), value)
		}
		over = over[1:]
	}
	o.base.Scan(lower, upper, func(key, value []byte) bool {
		for len(over) > 0 && !stopped {
			switch bytes.Compare([]byte(over[0]), key) {
			case -1:
				next()
				continue
			case 0:
				next()
				return !stopped
			}
			break
		}
		if !stopped {
			stopped = !visit(key, value)
		}
		return !stopped
	})
	for len(over) > 0 && !stopped {
		next()
	}
}
