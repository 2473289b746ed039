package frontier

import (
	"slices"

	"github.com/weftcrawl/weft/internal/kv"
)

// overlay is a store over a base. It keeps writes in memory and only reads the base. A
// decision folds each of its steps into an overlay, so it sees the state that Apply will make
// of its event.
type overlay struct {
	base   kv.Store
	writes map[string][]byte // nil: deleted
}

func (o *overlay) reset(base kv.Store) {
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

// Scan merges the few writes in the range with the base.
func (o *overlay) Scan(lower, upper []byte, visit func(key, value []byte) bool) {
	var over []string
	for key := range o.writes {
		if key >= string(lower) && key < string(upper) {
			over = append(over, key)
		}
	}
	slices.Sort(over)
	on := true
	before := func(key []byte) {
		for ; on && len(over) > 0 && over[0] < string(key); over = over[1:] {
			if value := o.writes[over[0]]; value != nil {
				on = visit([]byte(over[0]), value)
			}
		}
	}
	o.base.Scan(lower, upper, func(key, value []byte) bool {
		before(key)
		if on && (len(over) == 0 || over[0] != string(key)) {
			on = visit(key, value)
		}
		return on
	})
	before(upper)
}
